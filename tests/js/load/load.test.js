import assert from 'node:assert/strict';
import { mkdtempSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import test from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { load } from 'headlight-attention';
import { load as loadInline } from 'headlight-attention/inline';
import { FINGERPRINT, VERSION } from '../../../dist/abi/abi.js';

const file = fileURLToPath(new URL('../../../dist/headlight.simd128.wasm', import.meta.url));
const bytes = await readFile(file);

const works = (hl) =>
  assert.deepEqual(
    hl
      .attention(
        [[[1, 0]]],
        [
          [
            [1, 0],
            [1, 0],
          ],
        ],
        [[[2], [4]]],
      )
      .output.toArray(),
    [[[3]]],
  );

test('load accepts a URL, a path, bytes, a view of a buffer, or a module', async () => {
  const shifted = new Uint8Array(bytes.length + 5);
  shifted.set(bytes, 5);
  const forms = [
    pathToFileURL(file),
    pathToFileURL(file).href,
    file,
    bytes,
    bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length),
    shifted.subarray(5),
    await WebAssembly.compile(bytes),
  ];
  for (const wasm of forms) works(await load({ wasm }));
});

test('the inline entry reads no file', async () => {
  const hl = await loadInline();
  works(hl);
  assert.equal(hl.info.simd, (await load()).info.simd);
});

test('info has the version, the flavour for this engine, one thread, and the memory in bytes', async () => {
  const { version, simd, threads, memory } = (await load()).info;
  assert.equal(version, JSON.parse(await readFile(new URL('../../../package.json', import.meta.url))).version);
  const relaxed = WebAssembly.validate(
    await readFile(new URL('../../../dist/headlight.relaxed.wasm', import.meta.url)),
  );
  assert.equal(simd, relaxed ? 'relaxed' : 'simd128');
  assert.equal(threads, 1);
  assert.ok(memory.used >= 0 && memory.used < 4096);
  assert.equal(memory.reserved % 65536, 0);
  assert.equal(memory.limit, 2 ** 32);
  assert.equal((await load({ simd: 'simd128' })).info.simd, 'simd128');
});

test('two instances are independent', async () => {
  const [a, b] = await Promise.all([load(), load()]);
  const tensor = a.tensor([1, 2, 3]);
  const before = b.info.memory.used;
  b.zeros([1000]);
  a.zeros([500]);
  assert.equal(b.info.memory.used - before, Math.ceil((4000 + 16) / 64) * 64);
  a.dispose();
  works(b);
  assert.throws(() => tensor.data, { code: 'DISPOSED' });
});

test('errors about missing, truncated and other files name the file and the remedy', async () => {
  const missing = join(tmpdir(), 'no-such.wasm');
  await assert.rejects(load({ wasm: missing }), {
    code: 'LOAD',
    message: /cannot read file:.*no-such\.wasm: ENOENT.*Pass \{ wasm: url \}/,
  });
  await assert.rejects(load({ wasm: bytes.subarray(0, 5000) }), {
    code: 'LOAD',
    message: /the bytes given as wasm \(4\.88 KiB\) does not compile: .*truncated/,
  });
  await assert.rejects(load({ wasm: new TextEncoder().encode('<!doctype html>') }), {
    code: 'LOAD',
    message: /is not WebAssembly: 15 bytes that begin with "<!doctype html>"/,
  });
  await assert.rejects(load({ wasm: null }), { code: 'ARGUMENT', message: /wasm is null, expected a URL/ });
  await assert.rejects(load({ wasm: new Uint8Array() }), { code: 'LOAD', message: /is not WebAssembly: 0 bytes/ });
  const empty = new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0]);
  await assert.rejects(load({ wasm: empty }), {
    code: 'LOAD',
    message: /not a Headlight core: it does not export hl_attention/,
  });
});

/** Encodes a signed LEB128 number of WebAssembly, with seven bits per byte and the sign in the last byte. */
function signed(number) {
  const bytes = [];
  for (let rest = number | 0; ; rest >>= 7) {
    const last = rest >> 6 === 0 || rest >> 6 === -1;
    bytes.push((rest & 127) | (last ? 0 : 128));
    if (last) return bytes;
  }
}

test('a binary of another build is refused, and the error names the file and both versions', async () => {
  const constant = Buffer.from([65, ...signed(FINGERPRINT), 11]);
  const at = bytes.indexOf(constant);
  assert.ok(at > 0 && bytes.indexOf(constant, at + 1) < 0);
  const other = Buffer.from(bytes);
  other[at + 1] ^= 1;
  const path = join(mkdtempSync(join(tmpdir(), 'headlight-')), 'other.wasm');
  await writeFile(path, other);
  const hex = (fingerprint) => (fingerprint >>> 0).toString(16).padStart(8, '0');
  const got = `Headlight ${VERSION} (ABI ${hex(FINGERPRINT ^ 1)})`;
  const expected = `Headlight ${VERSION} (ABI ${hex(FINGERPRINT)})`;
  await assert.rejects(load({ wasm: path }), (error) => {
    assert.equal(error.code, 'LOAD');
    assert.equal(error.parameter, 'wasm');
    assert.deepEqual([error.got, error.expected], [got, expected]);
    assert.ok(
      error.message.includes(`${path} does not match this module: it is ${got}, expected ${expected}`),
      error.message,
    );
    return true;
  });
  await rm(dirname(path), { recursive: true });
});

test('errors about other responses of a server quote URL, status and type', async () => {
  const server = createServer((request, response) => {
    if (request.url === '/ok.wasm') response.writeHead(200, { 'Content-Type': 'application/octet-stream' }).end(bytes);
    else if (request.url === '/page.wasm')
      response.writeHead(200, { 'Content-Type': 'text/html' }).end('<!doctype html>');
    else response.writeHead(404, { 'Content-Type': 'text/plain' }).end();
  });
  await new Promise((listening) => server.listen(0, listening));
  const base = `http://localhost:${server.address().port}`;
  try {
    works(await load({ wasm: `${base}/ok.wasm` }));
    await assert.rejects(load({ wasm: `${base}/gone.wasm` }), {
      code: 'LOAD',
      message:
        /\/gone\.wasm gave status 404 and type text\/plain, expected 200 and application\/wasm\. Serve the \.wasm file/,
    });
    await assert.rejects(load({ wasm: `${base}/page.wasm` }), {
      code: 'LOAD',
      message: /gave status 200 and type text\/html/,
    });
  } finally {
    server.close();
    server.closeAllConnections();
  }
  await assert.rejects(load({ wasm: `${base}/ok2.wasm` }), { code: 'LOAD', message: /cannot fetch http:/ });
});

test('a failed load is not cached', async () => {
  let there = false;
  const server = createServer((_, response) => response.writeHead(there ? 200 : 503).end(there ? bytes : ''));
  await new Promise((listening) => server.listen(0, listening));
  const wasm = `http://localhost:${server.address().port}/x.wasm`;
  try {
    await assert.rejects(load({ wasm }), { code: 'LOAD' });
    there = true;
    works(await load({ wasm }));
  } finally {
    server.close();
    server.closeAllConnections();
  }
});
