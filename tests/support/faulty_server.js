// Serves the files of a model, and may respond with faults. It counts the bytes that it sends, and waits if a client
// does not read them.

import { createServer } from 'node:http';
import { gzipSync } from 'node:zlib';

/**
 * Bytes after which an endless response ends, so that a client that reads all of it fails its test without exhausting
 * the memory.
 */
const END = 2 ** 29;
const CHUNK = Buffer.alloc(2 ** 16, 0x20);
/** 1 MB of spaces, compressed to 1 kB. */
const BOMB = gzipSync(Buffer.alloc(2 ** 20, 0x20));

/** Writes chunks until the client closes the connection. */
function pour(response, chunk, most = END) {
  let left = Math.ceil(most / chunk.length);
  const more = () => {
    while (left-- > 0) if (!response.write(chunk)) return void response.once('drain', more);
    response.end();
  };
  more();
}

/** Returns the requested part of a file, and the headers of a correct response. */
function rightResponse(request, all) {
  const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '') ?? [];
  if (first === undefined) return { status: 200, headers: {}, body: all, begin: 0 };
  const begin = Number(first);
  const body = all.subarray(begin, Number(last) + 1);
  const headers = { 'content-range': `bytes ${begin}-${begin + body.length - 1}/${all.length}` };
  return { status: 206, headers, body, begin };
}

const sized = (response, { status, headers, body }) =>
  response.writeHead(status, { 'content-length': body.length, ...headers }).end(body);

/** Sends the correct bytes with a Content-Range that begins at another position. */
function sendAs(response, { body }, { length }, from) {
  const part = body.subarray(0, length - from);
  const range = `bytes ${from}-${from + part.length - 1}/${length}`;
  sized(response, { status: 206, headers: { 'content-range': range }, body: part });
}

/** Faults by name. Each is a function that receives the correct response and sends another one. */
export const FAULTS = {
  'the status 500': (response) => response.writeHead(500).end('no'),
  'the status 401': (response) => response.writeHead(401).end('no'),
  'the status 204': (response) => response.writeHead(204).end(),
  'a range from the beginning': (response, right, all) => sendAs(response, right, all, right.begin > 0 ? 0 : 1),
  'a shifted range': (response, right, all) => sendAs(response, right, all, right.begin + 8),
  'another length of the file': (response, right, all) =>
    sendAs(response, right, { length: all.length + 1 }, right.begin),
  'a range without Content-Range': (response, right) => sized(response, { ...right, status: 206, headers: {} }),
  'a Content-Range without numbers': (response, right) =>
    sized(response, { ...right, status: 206, headers: { 'content-range': 'bytes */*' } }),
  'several ranges at once': (response, right) =>
    sized(response, { ...right, status: 206, headers: { 'content-type': 'multipart/byteranges; boundary=x' } }),
  'fewer bytes': (response, right) =>
    response.writeHead(right.status, right.headers).end(right.body.subarray(0, right.body.length - 3)),
  'more bytes': (response, right) => response.writeHead(206, right.headers).end(Buffer.concat([right.body, CHUNK])),
  'a range without an end': (response, right) => pour(response.writeHead(206, right.headers), CHUNK),
  'a file without a length or an end': (response) => pour(response.writeHead(200), CHUNK),
  'a gzip bomb': (response) => pour(response.writeHead(200, { 'content-encoding': 'gzip' }), BOMB, 2 ** 20),
  'a range as a gzip bomb': (response, right) =>
    pour(response.writeHead(206, { ...right.headers, 'content-encoding': 'gzip' }), BOMB, 2 ** 20),
  'damaged gzip': (response, right) =>
    sized(response, { ...right, headers: { ...right.headers, 'content-encoding': 'gzip' } }),
  'a connection that is cut': (response, right) => {
    response.writeHead(right.status, { ...right.headers, 'content-length': right.body.length });
    response.write(right.body.subarray(0, 1), () => response.destroy());
  },
  'a connection that is cut before the headers': (response) => response.destroy(),
  'a redirect to itself': (response, _right, _all, request) => response.writeHead(302, { location: request.url }).end(),
  'a redirect to nowhere': (response) => response.writeHead(302, { location: 'http://127.0.0.1:1/x' }).end(),
  'a redirect to data': (response) => response.writeHead(302, { location: 'data:,x' }).end(),
};

/**
 * @param {Record<string, Uint8Array>} files
 * @returns {Promise<any>} the server. Its property fault may be set to a function of a file and the number of the
 * request for it, which returns the name of a fault, a function that responds, or nothing. again() resets the numbers
 * of requests to 0
 */
export async function serveFiles(files) {
  const sockets = new Set();
  const counts = new Map();
  const served = { url: '', requests: [], fault: () => undefined, sent: () => 0, close: () => {} };
  const server = createServer((request, response) => {
    served.requests.push(`${request.method} ${request.url}`);
    const name = decodeURIComponent(new URL(request.url, 'http://x').pathname.split('/').pop());
    const count = counts.get(name) ?? 0;
    counts.set(name, count + 1);
    response.on('error', () => {});
    const all = files[name];
    const fault = served.fault(name, count);
    const send = typeof fault === 'string' ? FAULTS[fault] : fault;
    const right = all ? rightResponse(request, Buffer.from(all)) : { status: 404, headers: {}, body: CHUNK, begin: 0 };
    if (send) send(response, right, all ?? CHUNK, request);
    else sized(response, right);
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
  });
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  served.url = `http://127.0.0.1:${server.address().port}/`;
  served.sent = () => [...sockets].reduce((sum, { bytesWritten }) => sum + bytesWritten, 0);
  served.again = () => counts.clear();
  served.close = () => {
    server.closeAllConnections();
    server.close();
  };
  return served;
}
