// The worker of the package's view. It is built as one file, so that any bundler can copy it.

import { load } from '../../src/js/load/browser.ts';
import { fetchFile } from '../worker/fetchWithProgress.ts';
import { createAnswerer } from '../worker/requests.ts';

/** Files in the folder of this script. Bundlers find them by these expressions. */
const BESIDE: Record<string, URL> = {
  'whale.safetensors': new URL('./whale.safetensors', import.meta.url),
  'whale.tokenizer.json': new URL('./whale.tokenizer.json', import.meta.url),
  'whale.passages.txt': new URL('./whale.passages.txt', import.meta.url),
};

const answer = createAnswerer({
  // The core gets one thread, because a page may contain many views, each of which would start a thread for each core.
  load,
  fetchBeside: (name, onProgress) => {
    if (!BESIDE[name]) throw new Error(`${name} is not a file of this package`);
    return fetchFile(BESIDE[name], onProgress);
  },
  post: (message, transfer = []) => self.postMessage(message, { transfer }),
});
self.onmessage = ({ data }) => answer(data);
