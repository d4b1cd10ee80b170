import { computed } from './computed.js';
import { readNpy, writeNpy } from './node_modules/headlight-attention/dist/formats.js';
import { load } from './node_modules/headlight-attention/dist/headlight.js';

computed({ load, readNpy, writeNpy }).then(
  (said) => postMessage(said),
  (error) => postMessage(error.message),
);
