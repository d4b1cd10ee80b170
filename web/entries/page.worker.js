// The worker of the page. A new model is a source in web/worker/sources; a new request is a verb in web/worker/verbs;
// the page sends requests through web/worker/client.js only.

import { load } from '../../src/js/load/browser.js';
// Imported statically, because every request needs it, and a dynamic import would load it later.
import '../../src/js/models/parts.js';
import { hold } from '../worker/crashDetection.js';
import { fetchFile } from '../worker/fetchWithProgress.js';
import { createAnswerer } from '../worker/requests.js';

/** Kept in a variable, because bundlers rewrite an expression that makes a URL of it directly. */
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
