import { computed } from './computed.js';
import { readNpy, writeNpy } from './node_modules/headlight-attention/dist/formats.js';
import { load } from './node_modules/headlight-attention/dist/headlight.inline.js';

globalThis.onmessage = (event) =>
  event.waitUntil(
    computed({ load, readNpy, writeNpy }).then(
      (said) => event.source.postMessage(said),
      (error) => event.source.postMessage(error.message),
    ),
  );
