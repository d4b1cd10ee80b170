// The worker of the page. To add a model, write a source in web/worker/sources. To add a request, write a verb in
// web/worker/verbs. The page sends requests only through web/store/client.ts.

import { load } from '../../src/js/load/browser.ts';
// Imported statically, because every request needs it, and a dynamic import would load it later.
import '../../src/js/models/parts.ts';
import { hold } from '../worker/crashDetection.ts';
import { fetchFile } from '../worker/fetchWithProgress.ts';
import { createAnswerer } from '../worker/requests.ts';

/** Kept in a variable, because bundlers would rewrite the expression new URL(…, import.meta.url). */
const HERE = import.meta.url;

/** The core. It is loaded before the first request, because every request needs it. */
const loaded = load({ threads: 'auto' });
loaded.catch(() => {});
const answer = createAnswerer({
  load: () => loaded,
  fetchBeside: (name, onProgress, signal) => fetchFile(new URL(name, HERE), onProgress, signal),
  post: (message, transfer = []) => self.postMessage(message, { transfer }),
});
self.onmessage = ({ data }) => (data.verb === 'alive' ? hold(data.lock) : answer(data));
