// A file with the progress of its reading.

/**
 * @param {URL} url
 * @param {(read: number, total: number) => void} onProgress
 * @param {AbortSignal} [signal]
 */
export async function fetchFile(url, onProgress, signal) {
  const response = await fetch(url, { signal });
  const name = url.pathname.split('/').pop();
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
