// Tests the scan of all heads in the worker: the map, the control of the scan, pages of heads, costs, and the storage
// of the browser.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { load } from 'headlight-attention';
import { HEAD_ROLES, predicts } from '../../../../src/js/analysis/roles/roleRules.ts';
import { initialState } from '../../../../web/model/state.ts';
import { Atlas } from '../../../../web/worker/atlas/atlas.ts';
import { createAnswerer } from '../../../../web/worker/requests.ts';

const file = (name) => readFileSync(new URL(`../../../../web/demo/${name}`, import.meta.url));
const FILES = {
  'whale.safetensors': file('whale.safetensors'),
  'whale.tokenizer.json': file('tokenizer.json'),
  'whale.passages.txt': file('whale.passages.txt'),
};
const texts = FILES['whale.passages.txt'].toString().split('\n').slice(0, 12);
const state = initialState;
const hl = await load({ simd: 'simd128' });

/**
 * Creates a worker without a browser. Returns a function that sends a request and resolves to the parts of the answer.
 * onPart is called with each part.
 */
function createWorker() {
  const waiting = new Map();
  let count = 0;
  const answer = createAnswerer({
    load: async () => hl,
    fetchBeside: async (name) => FILES[name],
    post({ id, done, error, dropped, ...part }) {
      const { resolve, reject, parts, onPart } = waiting.get(id) ?? {};
      if (error !== undefined) return reject(new Error(error));
      if (done) return resolve(parts);
      parts?.push(part);
      onPart?.(part);
    },
  });
  return (request, onPart) =>
    new Promise((resolve, reject) => {
      const id = ++count;
      waiting.set(id, { resolve, reject, parts: [], onPart });
      answer({ id, ...request });
    });
}

test('a scan sends the map as it grows, with the measures of the roles', async () => {
  const ask = createWorker();
  const parts = await ask({ verb: 'scan', state, corpus: { title: 'mine', texts }, length: 128 });
  const { map } = parts.at(-1);
  assert.deepEqual(
    [map.state, map.title, map.passages, map.done, map.layers, map.heads],
    ['finished', 'mine', 12, 12, 5, 4],
  );
  assert.equal(map.tokens, 12 * 128);
  for (const measures of [map.means, map.chances])
    for (const role of HEAD_ROLES) assert.equal(measures[role].length, 20);
  const largest = (role) => map.means[role].indexOf(Math.max(...map.means[role]));
  assert.deepEqual([largest('induction'), largest('previous')], [4 * 4 + 2, 3 * 4 + 3]);
  const [head] = await ask({ verb: 'scannedHead', state, key: map.key, layer: 4, head: 2 });
  assert.ok(head.samples.length >= 10);
  const { tokens, indices, values, max, interval } = head.samples.at(-1);
  assert.equal(interval, 5);
  assert.equal(tokens.length, 128);
  assert.ok(indices.length === values.length && Math.max(...values) <= max + 0.2);
  assert.equal(
    texts[head.samples[0].sequence].replaceAll(' ', ''),
    head.samples[0].tokens.join('').replaceAll(' ', ''),
  );
});

test('a scan is paused, goes on, and stops with what it has', async () => {
  const ask = createWorker();
  const seen = [];
  const parts = await ask({ verb: 'scan', state, corpus: { title: 'mine', texts }, length: 64 }, ({ map }) => {
    seen.push(map.state);
    if (seen.length === 1) ask({ verb: 'controlScan', action: 'pause' });
    else if (map.state === 'paused') {
      ask({ verb: 'controlScan', action: 'continue' });
      ask({ verb: 'controlScan', action: 'stop' });
    }
  });
  const { map } = parts.at(-1);
  assert.ok(seen.includes('paused'));
  assert.equal(map.state, 'stopped');
  assert.ok(map.done >= 1 && map.done < 12, String(map.done));
  // The map has the number of truncated passages.
  assert.equal(map.truncated, 12);
});

test('switching the induction head off costs most where its rule holds; there is one for each passage', async () => {
  const ask = createWorker();
  // Each passage repeats its own beginning, so that heads can copy from earlier tokens.
  const repeated = texts.slice(0, 4).map((text) => `${text.slice(0, 150)} ${text.slice(0, 150)}`);
  const parts = await ask({ verb: 'scan', state, corpus: { title: '', texts: repeated }, length: 128 });
  const { map } = parts.at(-1);
  const place = { state, key: map.key, layer: 4, head: 2, role: 'induction' };
  const cost = (await ask({ verb: 'headCost', ...place })).at(-1);
  assert.deepEqual([cost.measured, cost.total, cost.costs.length], [4, 4, 4]);
  assert.ok(Math.min(...cost.costs) <= cost.mean && cost.mean <= Math.max(...cost.costs));
  assert.ok(cost.mean > 0 && cost.holding > cost.mean, `${cost.mean} ${cost.holding}`);
  const bare = (await ask({ verb: 'headCost', ...place, role: null })).at(-1);
  assert.equal(bare.holding, null);
});

test('a rule holds where the key is the one that it predicts', () => {
  const ids = Int32Array.of(5, 6, 5, 6);
  const holding = (role) =>
    [1, 2, 3].flatMap((t) =>
      [0, 1, 2, 3].filter((key) => key <= t && predicts(role, ids, t, key)).map((key) => [t, key]),
    );
  assert.deepEqual(holding('previous'), [
    [2, 1],
    [3, 2],
  ]);
  assert.deepEqual(holding('itself'), [
    [1, 1],
    [2, 2],
    [3, 3],
  ]);
  assert.deepEqual(holding('first'), [
    [1, 0],
    [2, 0],
    [3, 0],
  ]);
  assert.deepEqual(holding('induction'), [
    [2, 1],
    [3, 2],
  ]);
  assert.deepEqual(holding('duplicate'), [[3, 1]]);
  assert.deepEqual(holding('nearby').length, 1 + 2 + 3);
});

/** Creates a storage in memory with the interface of the storage in the browser. */
function createStorage() {
  const [scans, heads] = [new Map(), new Map()];
  return {
    async put(scan, all) {
      for await (const { layer, head, record } of all)
        heads.set(`${scan.key} ${layer}.${head}`, structuredClone(record));
      scans.set(scan.key, structuredClone(scan));
    },
    get: async (key) => scans.get(key),
    newest: async (model) => [...scans.values()].findLast((scan) => scan.model === model)?.key,
    head: async (key, layer, head) => heads.get(`${key} ${layer}.${head}`),
  };
}

test('a stored scan opens at once in another visit, with the pages of its heads', async () => {
  const { openDemoModel } = await import('../../../../web/worker/sources/demoModel.ts');
  const { openTokenizer } = await import('../../../../src/js/text/tokenizer.ts');
  const { transformerSource } = await import('../../../../web/worker/sources/sources.ts');
  const source = transformerSource('whale', {
    model: openDemoModel(hl, FILES['whale.safetensors']),
    tokenizer: openTokenizer(FILES['whale.tokenizer.json']),
    bytes: 0,
  });
  const worker = { core: async () => hl, sourceOf: async () => source, fetchFile: async (name) => FILES[name] };
  const storage = createStorage();
  const visit = () => {
    const parts = [];
    const send = (part, fields) => parts.push({ part, ...fields });
    const reply = { send, isCancelled: () => false, checkCancelled: async () => false };
    return { parts, reply, atlas: new Atlas(worker, storage) };
  };
  const first = visit();
  await first.atlas.stored({ state, estimate: true }, first.reply);
  assert.deepEqual([first.parts[0].part, first.parts[0].passages], ['atlasEstimate', 300]);
  assert.ok(first.parts[0].milliseconds > 0);
  await first.atlas.scan({ state, corpus: { title: '', texts: texts.slice(0, 3) }, length: 64 }, first.reply);
  const { map } = first.parts.at(-1);
  await first.atlas.head({ state, key: map.key, layer: 3, head: 3 }, first.reply);

  const next = visit();
  await next.atlas.stored({ state }, next.reply);
  assert.deepEqual([next.parts.length, next.parts[0].map.source], [1, 'stored']);
  assert.deepEqual(next.parts[0].map.measures, map.measures);
  await next.atlas.head({ state, key: map.key, layer: 3, head: 3 }, next.reply);
  assert.deepEqual(next.parts[1], first.parts.at(-1));
  // The same corpus with the same settings is scanned again only on request.
  await next.atlas.scan({ state, corpus: { title: '', texts: texts.slice(0, 3) }, length: 64 }, next.reply);
  assert.deepEqual([next.parts.length, next.parts[2].map.source], [3, 'stored']);
  await next.atlas.scan(
    { state, corpus: { title: '', texts: texts.slice(0, 3) }, length: 64, again: true },
    next.reply,
  );
  assert.equal(next.parts.at(-1).map.source, 'scan');
});
