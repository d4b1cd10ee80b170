// An imitation of the Hugging Face Hub, by its recorded responses: the hub and the server of large files are on two
// ports. It counts what it sends, and may respond with faults.

import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import { gzipSync } from 'node:zlib';

const EXPOSED =
  'X-Repo-Commit, X-Request-Id, X-Error-Code, X-Error-Message, X-Total-Count, ETag, Link, Accept-Ranges, ' +
  'Content-Range, X-Linked-Size, X-Linked-ETag, X-Xet-Hash';
const hash = (type, ...parts) => parts.reduce((all, part) => all.update(part), createHash(type)).digest('hex');
const gitHash = (bytes) => hash('sha1', `blob ${bytes.length}\0`, bytes);
const isLarge = (path) => /\.(safetensors|gguf|bin|pt|onnx)$/.test(path);

/** Headers of a file, and the part that a request names. @returns {{ status, headers, body }} */
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

/**
 * @param {Record<string, any>} models by id: { files, revisions?, gated?, private?, renamedTo? }, or the files of main.
 *   revisions: more commits, as files by the name of a branch or tag
 * @returns {Promise<any>} requests: of both servers; fault(request): a function (response, right, request) that
 *   responds instead, or nothing; expire(): refuses the signed addresses so far; sent(): bytes of large files
 */
export async function imitateHub(models, { pageSize = 1000, token = 'hf_secret', linkTo } = {}) {
  const known = new Map();
  const large = new Map();
  const signatures = new Set();
  const hub = { requests: [], fault: () => undefined, ranges: true, lists: true, token, models: known };

  function addCommit(files) {
    const bytes = Object.fromEntries(Object.entries(files).map(([path, data]) => [path, Buffer.from(data)]));
    const sha = hash('sha1', ...Object.entries(bytes).flat());
    for (const [path, data] of Object.entries(bytes)) if (isLarge(path)) large.set(hash('sha256', data), data);
    return { sha, files: bytes };
  }
  /** Sets the files of a branch, as a push does. */
  hub.push = (id, files, branch = 'main') => {
    const model = known.get(id) ?? { branches: new Map(), commits: new Map() };
    known.set(id, model);
    const commit = addCommit(files);
    model.branches.set(branch, commit.sha);
    model.commits.set(commit.sha, commit.files);
    return commit.sha;
  };
  for (const [id, model] of Object.entries(models)) {
    const {
      files = model.renamedTo ? {} : model,
      revisions = {},
      ...rest
    } = model.files || model.renamedTo ? model : {};
    hub.push(id, model.files ? files : model.renamedTo ? {} : model);
    for (const [name, other] of Object.entries(revisions)) hub.push(id, other, name);
    Object.assign(known.get(id), model.files || model.renamedTo ? rest : {});
  }

  /** The model, or a refusal. */
  function findModel(request, id) {
    const model = known.get(id);
    const given = request.headers.authorization;
    if (given && given !== `Bearer ${token}`)
      return { refused: refusal(401, '', 'Invalid credentials in Authorization header') };
    const isOpen = given === `Bearer ${token}`;
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
  const commitOf = (model, revision) =>
    model.branches.get(revision) ?? (model.commits.has(revision) ? revision : undefined);

  function api(request, url) {
    const [, id, verb, rest = ''] =
      /^\/api\/models\/((?:[^/]+\/)?[^/]+?)\/(revision|tree|refs)\/?(.*)$/.exec(url.pathname) ?? [];
    if (!id) return refusal(404, '', 'Sorry, we cannot find the page you are looking for.');
    const { model, refused } = findModel(request, id);
    if (refused) return refused;
    if (model.renamedTo)
      return { status: 307, headers: { location: `/api/models/${model.renamedTo}/${verb}/${rest}${url.search}` } };
    if (verb === 'refs')
      return json({
        branches: [...model.branches].map(([name, sha]) => ({ name, ref: `refs/heads/${name}`, targetCommit: sha })),
        tags: [],
      });
    const sha = commitOf(model, decodeURIComponent(rest));
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
    if (!hub.lists) return refusal(404, '', 'not found');
    return tree(url, id, sha, files);
  }

  function tree(url, id, sha, files) {
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
    const next = from + pageSize;
    const link = `<${linkTo ?? servers[0].url}/api/models/${id}/tree/${sha}?recursive=true&cursor=${next}>; rel="next"`;
    return json(all.slice(from, next), 200, { 'x-repo-commit': sha, ...(next < all.length && { link }) });
  }

  function resolve(request, url) {
    const cached = url.pathname.startsWith('/api/resolve-cache/models/');
    const [, id, revision, escaped] =
      (cached
        ? /^\/api\/resolve-cache\/models\/(.+?)\/([\da-f]{40})\/(.+)$/
        : /^\/((?:[^/]+\/)?[^/]+)\/resolve\/([^/]+)\/(.+)$/
      ).exec(url.pathname) ?? [];
    if (!id) return refusal(404, '', 'not found');
    const { model, refused, isOpen } = findModel(request, id);
    if (refused) return refused;
    if (model.renamedTo) return { status: 307, headers: { location: url.pathname.replace(id, model.renamedTo) } };
    const sha = commitOf(model, decodeURIComponent(revision));
    if (!sha) return refusal(404, 'RevisionNotFound', `Invalid rev id: ${revision}`);
    const path = decodeURIComponent(escaped);
    const bytes = model.commits.get(sha)[path];
    if (!bytes) return refusal(404, 'EntryNotFound', 'Entry not found');
    if (model.gated && !(isOpen && model.accepted))
      return refusal(isOpen ? 403 : 401, 'GatedRepo', `Access to model ${id} is restricted.`);
    const commit = { 'x-repo-commit': sha };
    if (isLarge(path)) {
      const oid = hash('sha256', bytes);
      const signature = `s${signatures.size}`;
      signatures.add(signature);
      const location = `${servers[1].url}/repos/${oid}?Expires=1&Signature=${signature}`;
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

  function storage(request, url) {
    if (!signatures.has(url.searchParams.get('Signature'))) return { status: 403, body: 'Request has expired' };
    const bytes = large.get(url.pathname.split('/').pop());
    if (!hub.ranges) return { ...partOf({ headers: {} }, bytes, 'cdn'), headers: { etag: '"cdn"' } };
    return partOf(request, bytes, `cdn-${url.pathname.slice(-8)}`);
  }

  const handle = (name) => (request, response) => {
    const url = new URL(request.url, 'http://x');
    const entry = {
      server: name,
      method: request.method,
      path: request.url,
      range: request.headers.range,
      authorization: request.headers.authorization,
      headers: request.headers,
    };
    hub.requests.push(entry);
    const right =
      name === 'cdn'
        ? storage(request, url)
        : /^\/api\/models\//.test(url.pathname)
          ? api(request, url)
          : resolve(request, url);
    const fault = hub.fault(entry, hub.requests.filter(({ server }) => server === name).length - 1);
    if (fault) fault(response, right, request);
    else send(response, right);
  };
  const hubHeaders = (request) => ({
    'access-control-allow-origin': request.headers.origin ?? '*',
    'access-control-expose-headers': EXPOSED,
    'access-control-allow-headers': 'Authorization, Range',
    vary: 'Origin',
  });
  const cdnHeaders = () => ({
    'access-control-allow-origin': '*',
    'access-control-expose-headers': 'Accept-Ranges, Content-Range, ETag',
  });
  const servers = await Promise.all([listen(handle('hub'), hubHeaders), listen(handle('cdn'), cdnHeaders)]);
  return Object.assign(hub, {
    endpoint: servers[0].url,
    cdn: servers[1].url,
    sent: servers[1].sent,
    expire: () => signatures.clear(),
    /** Requests to one server, as text. */
    to: (name) =>
      hub.requests
        .filter(({ server }) => server === name)
        .map(({ path, range }) => `${path}${range ? ` ${range}` : ''}`),
    again: () => hub.requests.splice(0),
    close: () => servers.forEach(({ close }) => void close()),
  });
}

/** Sends the right response, but only a part of the body, and breaks the connection. */
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
