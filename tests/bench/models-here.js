// Runs one model with one type of weights and one number of threads in this Node: Headlight and every form of
// onnxruntime-web, in turns. The input is JSON; each result is a line of JSON.

import { readSafetensors, writeSafetensors } from '../../dist/formats.js';
import { load } from '../../dist/headlight.node.js';
import { uniformSource } from '../../src/js/ops/random.js';
import { openBandwidth } from './bandwidth.js';
import { decoderModel } from './decoder.js';
import { median } from './measure.js';

/** Largest difference of the logits, relative to the largest logit. */
const TOLERANCE = { float32: 1e-3, bfloat16: 1e-3, int8: 0.1 };
/** Milliseconds between contenders, because idle threads may spin. */
const UNTIL_ASLEEP = 100;
/** Number of tokens that a turn computes one by one. */
const TOKENS = 8;

/** The operators for each type of weights. */
const FLOATS = [{ form: 'gqa' }, { form: 'concat' }, { form: 'rows' }];
const FORMS = {
  float32: FLOATS,
  bfloat16: FLOATS,
  int8: [
    { form: 'gqa', quantized: 'dynamic' },
    { form: 'concat', quantized: 'dynamic' },
    { form: 'rows', quantized: 'dynamic' },
    { form: 'rows', quantized: 'groups' },
  ],
};

const { options, type, threads, rounds, prefills, pasts, only } = JSON.parse(process.argv[2]);
const say = (line) => console.log(JSON.stringify(line));
const asleep = () => threads > 1 && new Promise((resolve) => setTimeout(resolve, UNTIL_ASLEEP));

/**
 * The memories of all modules loaded after this line, because onnxruntime-web does not report the size of its memory.
 */
const memories = [];
WebAssembly.Memory = new Proxy(WebAssembly.Memory, {
  construct(target, given) {
    const memory = Reflect.construct(target, given);
    memories.push(memory);
    return memory;
  },
});

const next = uniformSource(1);
const ids = Array.from({ length: options.context }, () => Math.floor(next() * options.vocab));

function openHeadlight(hl) {
  const model = hl.transformer(options);
  for (const [name, { shape, data }] of Object.entries(model.parameters)) {
    if (shape.length > 1) continue;
    const middle = /norm\d?\.weight$/.test(name) ? 1 : 0;
    for (let i = 0; i < data.length; i++) data[i] = middle + 0.2 * (next() - 0.5);
  }
  return model;
}

/** Headlight's turns, and the keys and values of the longest past, which the other contenders get. */
function makeOurs(hl, model) {
  const cache = model.cache({ length: options.context });
  const pass = (tokens, past) => {
    cache.rewind(past);
    const result = model.forward(tokens, { cache, last: true });
    const logits = result.logits.copy();
    result.dispose();
    return logits;
  };
  const most = Math.max(...pasts);
  const capture = ['blocks.*.key', 'blocks.*.value'];
  const filled = model.forward(ids.slice(0, most), { cache, last: true, capture });
  const pairs = Array.from({ length: options.layers }, (_, l) => ({
    key: filled.captured[`blocks.${l}.key`].copy(),
    value: filled.captured[`blocks.${l}.value`].copy(),
  }));
  filled.dispose();
  // Each prefill writes the same tokens, so the cache is full again after the longest one.
  const refill = () => cache.length < most && pass(ids.slice(0, most), 0);
  return {
    pairs,
    refill,
    prefill: (n) => pass(ids.slice(0, n), 0),
    token: (past) => pass(ids.slice(past, past + 1), past),
    memory: () => hl.info.memory,
    close: () => cache.dispose(),
  };
}

/** Copies the first rows of every head of a tensor (G,most,D), unchanged or transposed. */
function firstRows(data, past, most, turned) {
  const { numHeads, kvHeads: heads = numHeads, dModel } = options;
  const width = dModel / numHeads;
  const rows = new Float32Array(heads * past * width);
  for (let h = 0; h < heads; h++) {
    const from = data.subarray(h * most * width, (h * most + past) * width);
    const at = h * past * width;
    if (!turned) rows.set(from, at);
    else for (let s = 0; s < past; s++) for (let d = 0; d < width; d++) rows[at + d * past + s] = from[s * width + d];
  }
  return rows;
}

/** The input tensors of one call of onnxruntime-web. */
function feedsOf(ort, session, form, { past, rows, pairs, most }) {
  const { numHeads, kvHeads: heads = numHeads, dModel } = options;
  const width = dModel / numHeads;
  const all = past + rows;
  const numbers = (from) => BigInt64Array.from({ length: rows }, (_, i) => BigInt(from(i)));
  const mask = () =>
    Float32Array.from({ length: rows * all }, (_, i) => (i % all > past + Math.floor(i / all) ? -1e9 : 0));
  const given = {
    ids: () =>
      new ort.Tensor(
        'int64',
        numbers((i) => ids[past + i]),
        [1, rows],
      ),
    positions: () =>
      new ort.Tensor(
        'int64',
        numbers((i) => past + i),
        [1, rows],
      ),
    mask: () => new ort.Tensor('float32', mask(), [1, 1, rows, all]),
    seqlens: () => new ort.Tensor('int32', Int32Array.of(all - 1), [1]),
    total: () => new ort.Tensor('int32', Int32Array.of(all), []),
  };
  const feeds = {};
  for (const name of session.inputNames) {
    const [, layer, part] = name.split('.');
    if (!layer) {
      feeds[name] = given[name]();
      continue;
    }
    const turned = form === 'rows' && part === 'key';
    const data = firstRows(pairs[layer][part], past, most, turned);
    feeds[name] = new ort.Tensor('float32', data, turned ? [1, heads, width, past] : [1, heads, past, width]);
  }
  return feeds;
}

function differ(a, b) {
  let [most, off] = [0, 0];
  for (let i = 0; i < a.length; i++) {
    most = Math.max(most, Math.abs(a[i]));
    off = Math.max(off, Math.abs(a[i] - b[i]));
  }
  return off / most;
}

const repeat = async (run, times) => {
  const start = performance.now();
  for (let i = 0; i < times; i++) await run();
  return (performance.now() - start) / times;
};

/** Runs rounds in which both take turns, and measures the bandwidth of each round if requested. */
async function takeTurns(contenders, count, bandwidth) {
  const times = contenders.map(() => []);
  const rates = [];
  for (let round = 0; round < rounds; round++) {
    for (const i of round % 2 ? [1, 0] : [0, 1]) {
      await asleep();
      if (count > 1) await contenders[i]();
      times[i].push(await repeat(contenders[i], count));
    }
    await asleep();
    if (bandwidth) rates.push(await bandwidth.measure());
  }
  return { times, rates };
}

/** The same model opened from a file of bfloat16, with weights: 'stored'. */
async function reopened(hl, model) {
  const files = await model.saveFolder();
  model.dispose();
  const tensors = Object.entries(readSafetensors(files['model.safetensors']).tensors);
  const given = Object.fromEntries(tensors.map(([name, tensor]) => [name, { ...tensor, dtype: 'BF16' }]));
  return hl.openModel({ ...files, 'model.safetensors': writeSafetensors(given) }, { weights: 'stored' });
}

let hl = await load({ threads });
let model = openHeadlight(hl);
if (type === 'bfloat16') {
  const other = await load({ threads });
  model = await reopened(other, model);
  hl.dispose();
  hl = other;
}
const weightOf = (name) => model.valuesOf(name, 'bench');
const forms = FORMS[type].filter(({ form }) => !only || only.includes(form));
// Writes the files for onnxruntime-web before the float32 weights are freed.
const written = forms.map((form) => () => decoderModel(options, weightOf, form));
const early = type === 'int8' ? written.map((write) => write()) : undefined;
if (type === 'int8') model.quantize();
const held = hl.info.memory;
const ours = makeOurs(hl, model);
const bandwidth = openBandwidth(threads);
const ort = await import('onnxruntime-web');
ort.env.wasm.numThreads = threads;
ort.env.logLevel = 'error';
const before = memories.length;

for (const [i, { form, quantized }] of forms.entries()) {
  const { model: graph, data } = early ? early[i] : written[i]();
  if (early) early[i] = undefined;
  const name = [form, quantized].filter(Boolean).join(', ');
  let session;
  try {
    session = await ort.InferenceSession.create(graph, {
      executionProviders: ['wasm'],
      graphOptimizationLevel: 'all',
      externalData: [{ path: 'weights', data }],
    });
  } catch (error) {
    say({ form: name, failure: String(error.message ?? error).slice(0, 300) });
    continue;
  }
  const most = Math.max(...pasts);
  const cases = [
    ...(form === 'rows' ? [] : prefills.map((rows) => ({ name: `prefill ${rows}`, past: 0, rows }))),
    ...pasts.map((past) => ({ name: `a token after ${past}`, past, rows: 1 })),
  ];
  for (const { name: what, past, rows } of cases) {
    const feeds = feedsOf(ort, session, form, { past, rows, pairs: ours.pairs, most });
    const own = past > 0 ? () => ours.token(past) : () => ours.prefill(rows);
    const theirs = async () => {
      const results = await session.run(feeds);
      return results.logits.data;
    };
    ours.refill();
    const off = differ(own(), await theirs());
    if (!(off < TOLERANCE[type])) throw new Error(`${name}, ${what}: the logits differ by ${off} of the largest`);
    const { times, rates } = await takeTurns([own, theirs], past > 0 ? TOKENS : 1, past > 0 ? bandwidth : undefined);
    const { numHeads, kvHeads: heads = numHeads, dModel, layers } = options;
    const bytes = held.used + 2 * layers * heads * (dModel / numHeads) * 4 * (past + 1);
    const heap = memories.slice(before).reduce((most, { buffer }) => Math.max(most, buffer.byteLength), 0);
    say({
      form: name,
      what,
      off,
      median: times.map(median),
      least: times.map((all) => Math.min(...all)),
      ratio: median(times[1].map((ms, round) => ms / times[0][round])),
      ...(past > 0 && {
        rate: (bytes / median(times[0])) * 1000,
        bandwidth: median(rates),
        share: median(rates.map((rate, round) => ((bytes / times[0][round]) * 1000) / rate)),
      }),
      weights: held.used,
      beyond: ours.memory().reserved - held.used,
      heap: { weights: data.byteLength, beyond: heap - data.byteLength },
    });
  }
  await session.release();
}
await bandwidth.close();
process.exit();
