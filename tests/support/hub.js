// Imitates the Hugging Face Hub with recorded responses. The hub and the server of large files use two ports. The
// imitation counts the bytes that it sends, and may respond with faults.

import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import { gzipSync } from 'node:zlib';

const EXPOSED =
  'X-Repo-Commit, X-Request-Id, X-Error-Code, X-Error-Message, X-Total-Count, ETag, Link, Accept-Ranges, ' +
  'Content-Range, X-Linked-Size, X-Linked-ETag, X-Xet-Hash';
const hash = (type, ...parts) => parts.reduce((all, part) => all.update(part), createHash(type)).digest('hex');
const gitHash = (bytes) => hash('sha1', `blob ${bytes.length}\0`, bytes);
const isLarge = (path) => /\.(safetensors|gguf|bin|pt|onnx)$/.test(path);

/** Returns the headers of a file, and the part of it that a request asks for. @returns {{ status, headers, body }} */
function partOf(request, bytes, tag) {
  const headers = { 'accept-ranges': 'bytes', etag: `"${tag}"`, 'content-type': 'application/octet-stream' };
  const [, first, last] = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? '') ?? [];
  if (first === undefined) return { status: 200, headers, body: bytes };
  const begin = Number(first);
  if (begin >= bytes.length)
    return { status: 416, headers: { 'content-range': `bytes */${bytes.length}` }, body: Buffer.alloc(0) };
  const body = bytes.subarray(begin, last === '' ? bytes.length : Number(last) + 1);
  const range = `bytes ${begin}-${begin + body.length - 1}/${bytes.length}`;
  return { status: 206, headers: { ...headers, 'content-range': range }, body };
}

function send(response, { status, headers = {}, body = '' }) {
  response.writeHead(status, { 'content-length': Buffer.byteLength(body), ...headers }).end(body);
}

const json = (value, status = 200, headers = {}) => ({
  status,
  headers: { 'content-type': 'application/json; charset=utf-8', ...headers },
  body: JSON.stringify(value),
});
const refusal = (status, code, text) =>
  json({ error: text }, status, { ...(code && { 'x-error-code': code }), 'x-error-message': text });

async function listen(handle, allow) {
  const sockets = new Set();
  const server = createServer((request, response) => {
    response.on('error', () => {});
    for (const [name, value] of Object.entries(allow(request))) response.setHeader(name, value);
    if (request.method === 'OPTIONS') return send(response, { status: 204 });
    handle(request, response);
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
  });
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    sent: () => [...sockets].reduce((sum, { bytesWritten }) => sum + bytesWritten, 0),
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

const allowHub = (request) => ({
  'access-control-allow-origin': request.headers.origin ?? '*',
  'access-control-expose-headers': EXPOSED,
  'access-control-allow-headers': 'Authorization, Range',
  vary: 'Origin',
});
const allowCdn = () => ({
  'access-control-allow-origin': '*',
  'access-control-expose-headers': 'Accept-Ranges, Content-Range, ETag',
});

/**
 * An imitated Hub. `fault` may be set to a function of a request and the number of the request to its server. It
 * returns a function (response, right, request) that responds instead of the Hub, or nothing.
 */
class ImitatedHub {
  /** Requests to both servers. */
  requests = [];
  fault = () => undefined;
  /** False if the server of large files ignores ranges. */
  ranges = true;
  /** False if the Hub has no lists of files. */
  lists = true;
  /** Models by id: { branches, commits, gated, accepted, private, renamedTo }. */
  models = new Map();
  #large = new Map();
  #signatures = new Set();
  #signed = 0;
  #servers = [];
  #pageSize;
  #linkTo;

  constructor({ pageSize = 1000, token = 'hf_secret', linkTo }) {
    this.token = token;
    this.#pageSize = pageSize;
    this.#linkTo = linkTo;
  }

  async start() {
    this.#servers = await Promise.all([
      listen((...exchange) => this.#handle('hub', ...exchange), allowHub),
      listen((...exchange) => this.#handle('cdn', ...exchange), allowCdn),
    ]);
    [this.endpoint, this.cdn] = this.#servers.map(({ url }) => url);
    return this;
  }

  close() {
    for (const server of this.#servers) server.close();
  }

  /** Returns the bytes that the server of large files has sent, with headers. */
  sent() {
    return this.#servers[1].sent();
  }

  /** Returns the requests to one server, as text. */
  to(name) {
    const own = this.requests.filter(({ server }) => server === name);
    return own.map(({ path, range }) => `${path}${range ? ` ${range}` : ''}`);
  }

  again() {
    this.requests.length = 0;
  }

  /** Makes all signed addresses so far invalid. */
  expire() {
    this.#signatures.clear();
  }

  /** Sets the files of a branch, as a push does. @returns {string} the commit */
  push(id, files, branch = 'main') {
    const bytes = Object.fromEntries(Object.entries(files).map(([path, data]) => [path, Buffer.from(data)]));
    const sha = hash('sha1', ...Object.entries(bytes).flat());
    for (const [path, data] of Object.entries(bytes)) if (isLarge(path)) this.#large.set(hash('sha256', data), data);
    const model = this.models.get(id) ?? { branches: new Map(), commits: new Map() };
    this.models.set(id, model);
    model.branches.set(branch, sha);
    model.commits.set(sha, bytes);
    return sha;
  }

  /** Returns the model, or the response that refuses access to it. */
  #findModel(request, id) {
    const model = this.models.get(id);
    const given = request.headers.authorization;
    if (given && given !== `Bearer ${this.token}`)
      return { refused: refusal(401, '', 'Invalid credentials in Authorization header') };
    const isOpen = given === `Bearer ${this.token}`;
    if (!model || (model.private && !isOpen))
      return {
        refused: refusal(
          isOpen ? 404 : 401,
          'RepoNotFound',
          isOpen ? 'Repository not found' : 'Invalid username or password.',
        ),
      };
    return { model, isOpen };
  }
  #commitOf(model, revision) {
    return model.branches.get(revision) ?? (model.commits.has(revision) ? revision : undefined);
  }

  #api(request, url) {
    const [, id, verb, rest = ''] =
      /^\/api\/models\/((?:[^/]+\/)?[^/]+?)\/(revision|tree|refs)\/?(.*)$/.exec(url.pathname) ?? [];
    if (!id) return refusal(404, '', 'Sorry, we cannot find the page you are looking for.');
    const { model, refused } = this.#findModel(request, id);
    if (refused) return refused;
    if (model.renamedTo)
      return { status: 307, headers: { location: `/api/models/${model.renamedTo}/${verb}/${rest}${url.search}` } };
    if (verb === 'refs')
      return json({
        branches: [...model.branches].map(([name, sha]) => ({ name, ref: `refs/heads/${name}`, targetCommit: sha })),
        tags: [],
      });
    const sha = this.#commitOf(model, decodeURIComponent(rest));
    if (!sha) return refusal(404, 'RevisionNotFound', `Invalid rev id: ${decodeURIComponent(rest)}`);
    const files = model.commits.get(sha);
    if (verb === 'revision')
      return json(
        {
          _id: '1',
          id,
          sha,
          gated: model.gated ?? false,
          private: Boolean(model.private),
          siblings: Object.keys(files).map((rfilename) => ({ rfilename })),
        },
        200,
        { 'x-repo-commit': sha },
      );
    if (!this.lists) return refusal(404, '', 'not found');
    return this.#tree(url, id, sha, files);
  }

  #tree(url, id, sha, files) {
    const folders = new Set(
      Object.keys(files)
        .filter((path) => path.includes('/'))
        .map((path) => path.split('/')[0]),
    );
    const all = [
      ...[...folders].map((path) => ({ type: 'directory', oid: hash('sha1', path), size: 0, path })),
      ...Object.entries(files).map(([path, bytes]) => ({
        type: 'file',
        oid: gitHash(bytes),
        size: bytes.length,
        path,
        ...(isLarge(path) && {
          lfs: { oid: hash('sha256', bytes), size: bytes.length, pointerSize: 135 },
          xetHash: 'x',
        }),
      })),
    ];
    const from = Number(url.searchParams.get('cursor') ?? 0);
    const next = from + this.#pageSize;
    const page = `${this.#linkTo ?? this.endpoint}/api/models/${id}/tree/${sha}?recursive=true&cursor=${next}`;
    const link = `<${page}>; rel="next"`;
    return json(all.slice(from, next), 200, { 'x-repo-commit': sha, ...(next < all.length && { link }) });
  }

  #resolve(request, url) {
    const cached = url.pathname.startsWith('/api/resolve-cache/models/');
    const [, id, revision, escaped] =
      (cached
        ? /^\/api\/resolve-cache\/models\/(.+?)\/([\da-f]{40})\/(.+)$/
        : /^\/((?:[^/]+\/)?[^/]+)\/resolve\/([^/]+)\/(.+)$/
      ).exec(url.pathname) ?? [];
    if (!id) return refusal(404, '', 'not found');
    const { model, refused, isOpen } = this.#findModel(request, id);
    if (refused) return refused;
    if (model.renamedTo) return { status: 307, headers: { location: url.pathname.replace(id, model.renamedTo) } };
    const sha = this.#commitOf(model, decodeURIComponent(revision));
    if (!sha) return refusal(404, 'RevisionNotFound', `Invalid rev id: ${revision}`);
    const path = decodeURIComponent(escaped);
    const bytes = model.commits.get(sha)[path];
    if (!bytes) return refusal(404, 'EntryNotFound', 'Entry not found');
    if (model.gated && !(isOpen && model.accepted))
      return refusal(isOpen ? 403 : 401, 'GatedRepo', `Access to model ${id} is restricted.`);
    const commit = { 'x-repo-commit': sha };
    if (isLarge(path)) {
      const oid = hash('sha256', bytes);
      const signature = `s${this.#signed++}`;
      this.#signatures.add(signature);
      const location = `${this.cdn}/repos/${oid}?Expires=1&Signature=${signature}`;
      return {
        status: 302,
        headers: { ...commit, location, 'x-linked-size': bytes.length, 'x-linked-etag': `"${oid}"` },
      };
    }
    if (!cached)
      return { status: 307, headers: { ...commit, location: `/api/resolve-cache/models/${id}/${sha}/${escaped}` } };
    const right = partOf(request, bytes, gitHash(bytes));
    Object.assign(right.headers, commit);
    if (right.status !== 200 || !/gzip/.test(request.headers['accept-encoding'] ?? '')) return right;
    return {
      status: 200,
      headers: { ...right.headers, 'content-encoding': 'gzip', etag: `W/"${gitHash(bytes)}"` },
      body: gzipSync(right.body),
    };
  }

  #storage(request, url) {
    if (!this.#signatures.has(url.searchParams.get('Signature'))) return { status: 403, body: 'Request has expired' };
    const bytes = this.#large.get(url.pathname.split('/').pop());
    if (!this.ranges) return { ...partOf({ headers: {} }, bytes, 'cdn'), headers: { etag: '"cdn"' } };
    return partOf(request, bytes, `cdn-${url.pathname.slice(-8)}`);
  }

  #handle(name, request, response) {
    const url = new URL(request.url, 'http://x');
    const { method, headers } = request;
    const { range, authorization } = headers;
    const entry = { server: name, method, path: request.url, range, authorization, headers };
    this.requests.push(entry);
    const isApi = url.pathname.startsWith('/api/models/');
    const right =
      name === 'cdn' ? this.#storage(request, url) : isApi ? this.#api(request, url) : this.#resolve(request, url);
    const fault = this.fault(entry, this.requests.filter(({ server }) => server === name).length - 1);
    if (fault) fault(response, right, request);
    else send(response, right);
  }
}

/**
 * @param {Record<string, any>} models by id: { files, revisions?, gated?, private?, renamedTo? }, or the files of main.
 *   revisions: further commits, as a map from the name of a branch or tag to the files
 * @param {{ pageSize?: number, token?: string, linkTo?: string }} [options]
 */
export async function imitateHub(models, options = {}) {
  const hub = new ImitatedHub(options);
  for (const [id, model] of Object.entries(models)) {
    const isDescribed = model.files || model.renamedTo;
    const { files = {}, revisions = {}, ...more } = isDescribed ? model : { files: model };
    hub.push(id, files);
    for (const [name, other] of Object.entries(revisions)) hub.push(id, other, name);
    Object.assign(hub.models.get(id), more);
  }
  return hub.start();
}

/** Returns a fault that sends the correct headers and only a part of the body, and then breaks the connection. */
export const cutAfter =
  (count) =>
  (response, { status, headers, body }) => {
    response.writeHead(status, { 'content-length': Buffer.byteLength(body), ...headers });
    response.write(Buffer.from(body).subarray(0, count), () => setTimeout(() => response.destroy(), 5));
  };
export const answer =
  (status, headers = {}, body = '') =>
  (response) =>
    send(response, { status, headers, body });
