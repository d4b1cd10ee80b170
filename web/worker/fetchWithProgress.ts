// Fetches a file and reports the progress.

import type { OnProgress } from './sources/types.ts';

export async function fetchFile(url: URL, onProgress: OnProgress, signal?: AbortSignal) {
  const response = await fetch(url, { signal });
  const name = url.pathname.split('/').pop();
  if (!response.ok || !response.body) throw new Error(`${name}: status ${response.status}`);
  const total = Number(response.headers.get('Content-Length')) || 0;
  const chunks: Uint8Array[] = [];
  let read = 0;
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
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
