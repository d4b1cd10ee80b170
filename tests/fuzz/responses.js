// Opens a model from a server with one faulty response: its status, headers, length or connection. The result must be
// the correct model or a HeadlightError, and all memory must be freed.
//
//   node tests/fuzz/responses.js [openings] [seed]

import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { HeadlightError, load } from 'headlight-attention';
import { serveFiles } from '../support/faulty_server.js';
import { modelFiles } from '../support/golden.js';
import { makeSource } from './source.js';

/** Number of requests that open a model: three for small files and two for the weights. */
const REQUESTS = 5;
const IDS = [5, 17, 80, 3];

/** Sends a response, parts of which are wrong. */
function mangle(source, response, { status, headers, body }) {
  const near = (text) => text.replace(/\d+/g, (n) => (source.chance(0.1) ? Number(n) + source.between(-2, 2) : n));
  const part = Buffer.concat([
    body.subarray(0, source.chance(0.15) ? source.below(body.length + 1) : body.length),
    Buffer.alloc(source.chance(0.15) ? source.below(9) : 0),
  ]);
  const range = headers['content-range'];
  response.writeHead(source.chance(0.8) ? status : source.pick([200, 206, 404, 416, 429, 502]), {
    ...(range && source.chance(0.9) && { 'content-range': near(range) }),
    ...source.maybe(0.1, () => ({ 'content-encoding': source.pick(['gzip', 'identity', 'br', 'x']) })),
    ...source.maybe(0.1, () => ({ 'content-length': part.length + source.between(0, 2) })),
    ...source.maybe(0.1, () => ({ 'content-type': source.pick(['text/html', 'application/json']) })),
    ...source.maybe(0.1, () => ({ etag: source.pick(['"a"', '"b"', 'W/"c"', '']) })),
  });
  const isCut = source.chance(0.1);
  response.write(part, () => (isCut ? response.destroy() : response.end()));
}

async function logitsOf(hl, files) {
  const model = await hl.openModel(files);
  const result = model.forward(IDS);
  const logits = result.logits.copy();
  result.dispose();
  model.dispose();
  return logits;
}

/** @param {number} openings @param {number} seed @returns {Promise<{ opened: number, refused: number }>} */
export async function fuzzResponses(openings, seed) {
  const source = makeSource(seed);
  const hl = await load();
  const files = modelFiles('llama-a');
  const expected = await logitsOf(hl, files);
  const server = await serveFiles(files);
  const counts = { opened: 0, refused: 0 };
  for (let i = 0; i < openings; i++) {
    const at = source.below(REQUESTS);
    let seen = 0;
    server.fault = () => (seen++ === at ? (...given) => mangle(source, ...given) : undefined);
    const before = hl.info.memory.used;
    try {
      assert.deepEqual(await logitsOf(hl, server.url), expected, `seed ${seed}, opening ${i}, response ${at}`);
      counts.opened++;
    } catch (error) {
      if (!(error instanceof HeadlightError)) throw error;
      counts.refused++;
    }
    assert.equal(hl.info.memory.used, before, `seed ${seed}, opening ${i}, response ${at}`);
  }
  server.close();
  hl.dispose();
  return counts;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [openings = 500, seed = 1] = process.argv.slice(2).map(Number);
  console.log(await fuzzResponses(openings, seed));
}
