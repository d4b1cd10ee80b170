// Fetches a file and reports the progress.

/** @import { OnProgress } from './sources/types.js' */

/**
 * @param {URL} url
 * @param {OnProgress} onProgress
 * @param {AbortSignal} [signal]
 */
export async function fetchFile(url, onProgress, signal) {
  const response = await fetch(url, { signal });
  const name = url.pathname.split('/').pop();
  if (!response.ok || !response.body) throw new Error(`${name}: status ${response.status}`);
  const total = Number(response.headers.get('Content-Length')) || 0;
  /** @type {Uint8Array[]} */
  const chunks = [];
  let read = 0;
  for await (const chunk of /** @type {AsyncIterable<Uint8Array>} */ (/** @type {unknown} */ (response.body))) {
    chunks.push(chunk);
    read += chunk.length;
    onProgress(read, total);
  }
  const bytes = new Uint8Array(read);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return bytes;
}
