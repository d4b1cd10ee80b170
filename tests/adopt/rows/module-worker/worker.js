import { computed } from './computed.js';
import { readNpy, writeNpy } from './node_modules/headlight/dist/formats.js';
import { load } from './node_modules/headlight/dist/headlight.js';

computed({ load, readNpy, writeNpy }).then(
  (said) => postMessage(said),
  (error) => postMessage(error.message),
);
