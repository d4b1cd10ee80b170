// The core, off the page's thread. Where to add what: a model that can be looked at is a source (sources.js); a
// question is a verb (answer.js); the page asks through ask.js and nowhere else.

import { load } from '../../../src/js/load/browser.js';
import { createAnswerer } from './answer.js';

/** Bundlers rewrite a URL that is made in one expression. */
const HERE = import.meta.url;

/**
 * A file that lies beside this script, with its progress.
 * @param {string} name
 * @param {(read: number, total: number) => void} onProgress
 */
async function fetchBeside(name, onProgress) {
  const response = await fetch(new URL(name, HERE));
  if (!response.ok || !response.body) throw new Error(`${name}: status ${response.status}`);
  const total = Number(response.headers.get('Content-Length')) || 0;
  const chunks = [];
  let read = 0;
  for await (const chunk of /** @type {any} */ (response.body)) {
    chunks.push(chunk);
    read += chunk.length;
    onProgress(read, total);
  }
  return new Uint8Array(await new Blob(chunks).arrayBuffer());
}

const answer = createAnswerer({
  load,
  fetchBeside,
  post: (message, transfer = []) => self.postMessage(message, { transfer }),
});
self.onmessage = ({ data }) => answer(data);
