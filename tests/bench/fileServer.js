// Serves folders with support of range requests, in a separate process, so that it takes no CPU time from the process
// that measures. Its arguments are pairs of a name and a folder. It prints its port.

import { open } from 'node:fs/promises';
import { createServer } from 'node:http';
import { extname, join } from 'node:path';

const TYPES = { '.html': 'text/html', '.js': 'text/javascript', '.wasm': 'application/wasm' };
const folders = new Map();
for (let i = 2; i < process.argv.length; i += 2) folders.set(process.argv[i], process.argv[i + 1]);

const server = createServer(async (request, response) => {
  const [name, ...path] = decodeURIComponent(new URL(request.url, 'http://x').pathname.slice(1)).split('/');
  const file = folders.has(name) && (await open(join(folders.get(name), ...path)).catch(() => null));
  if (!file) return response.writeHead(404).end();
  const { size } = await file.stat();
  const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '') ?? [];
  const begin = Number(first ?? 0);
  const end = first === undefined ? size : Math.min(Number(last) + 1, size);
  response.writeHead(first === undefined ? 200 : 206, {
    'content-type': TYPES[extname(path.at(-1))] ?? 'application/octet-stream',
    'content-length': end - begin,
    ...(first !== undefined && { 'content-range': `bytes ${begin}-${end - 1}/${size}` }),
    etag: '"1"',
  });
  const stream = file.createReadStream({ start: begin, end: end - 1, highWaterMark: 2 ** 18 });
  response.on('close', () => stream.destroy());
  stream.pipe(response);
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
