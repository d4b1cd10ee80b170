// Runs one model with one type of weights and one number of threads in this Node: Headlight and every form of
// onnxruntime-web, in turns. The input is JSON; each result is a line of JSON.

import { readSafetensors, writeSafetensors } from '../../dist/formats.js';
import { load } from '../../dist/headlight.node.js';
import { uniformSource } from '../../src/js/ops/random.ts';
import { openBandwidth } from './bandwidth.js';
import { decoderModel } from './decoder.js';
import { differ, feedsOf, figuresOf, makeOurs, TOKENS, takeTurns, turnOf } from './decoderTurns.js';
import { median } from './measure.js';

/** Largest allowed difference of the logits, relative to the largest logit. */
const TOLERANCE = { float32: 1e-3, bfloat16: 1e-3, int8: 0.1 };

/** The forms of attention and of quantization that onnxruntime-web runs, for each type of weights. */
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

/**
 * The WebAssembly memories of all modules that are loaded after this line. They are recorded because onnxruntime-web
 * does not report the size of its memory.
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

/** Saves the model as bfloat16, frees it, and opens the file with weights: 'stored'. */
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
const ours = makeOurs(model, { options, ids, pasts });
const pairs = ours.pairs();
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
    const feeds = feedsOf(ort, session, form, { options, ids, past, rows, pairs, most });
    const own = past > 0 ? () => ours.token(past) : () => ours.prefill(rows);
    const theirs = async () => {
      const results = await session.run(feeds);
      return results.logits.data;
    };
    ours.refill();
    const off = differ(own(), await theirs());
    if (!(off < TOLERANCE[type])) throw new Error(`${name}, ${what}: the logits differ by ${off} of the largest`);
    const { times, rates } = await takeTurns([turnOf(own), turnOf(theirs)], {
      ...{ rounds, threads, count: past > 0 ? TOKENS : 1 },
      bandwidth: past > 0 ? bandwidth : undefined,
    });
    const { numHeads, kvHeads: heads = numHeads, dModel, layers } = options;
    const bytes = held.used + 2 * layers * heads * (dModel / numHeads) * 4 * (past + 1);
    const heap = memories.slice(before).reduce((most, { buffer }) => Math.max(most, buffer.byteLength), 0);
    say({
      form: name,
      what,
      off,
      ...figuresOf(times),
      ...(past > 0 && {
        rate: (bytes / median(times[0])) * 1000,
        bandwidth: median(rates),
        share: median(rates.map((rate, round) => ((bytes / times[0][round]) * 1000) / rate)),
      }),
      weights: held.used,
      beyond: hl.info.memory.reserved - held.used,
      heap: { weights: data.byteLength, beyond: heap - data.byteLength },
    });
  }
  await session.release();
}
await bandwidth.close();
process.exit();
