// ./build.sh onnx: writes layers and models as ONNX files, in both sets of operators, runs them with onnxruntime-node
// and onnxruntime-web, and compares the results with those of Headlight. It checks the files of opset 17 with Debian's
// python3-onnx. Prints a table, and exits with 1 if a difference exceeds its limit.
//   --layers N     number of random layers and attentions, default 200
//   --models N     number of transformers with random options, in addition to every family of checkpoints, default 30
//   --only TEXT    only forms whose name contains the text

import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { load } from 'headlight-attention';
import { int8Tolerance, TOLERANCE } from '../support/onnx.js';
import { chooseLayer, compareLayer } from '../support/onnx_layers.js';
import {
  compareCached,
  compareModel,
  complete,
  familyCases,
  feedsOf,
  inputsOf,
  off,
  randomModel,
} from '../support/onnx_models.js';
import { openOnnx, WEB } from '../support/onnxruntime.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** Folder of the files that Python checks. */
const FOLDER = join(ROOT, 'dist/onnx');
const CHECK = fileURLToPath(new URL('check.py', import.meta.url));
/** onnxruntime-node, which is installed only for the benchmarks. */
const native = createRequire(join(ROOT, 'tests/bench/package.json'))('onnxruntime-node');
const RUNTIMES = [
  { name: 'onnxruntime-node', ort: native, provider: 'cpu' },
  { name: 'onnxruntime-web', ...WEB },
];
const OPSETS = [17, 23];

const { values } = parseArgs({
  options: {
    layers: { type: 'string', default: '200' },
    models: { type: 'string', default: '30' },
    only: { type: 'string', default: '' },
  },
});

/** Returns true if a file contains the operator Attention of opset 23. */
const hasAttention = (files) =>
  Object.values(files).some((bytes) =>
    Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).includes('\tAttention'),
  );

/** Rows of the table. */
const rows = [];
let written = 0;

/**
 * @param {string} form
 * @param {number} opset
 * @param {{ name: string, run: (runtime: object) => Promise<{ difference: number, files: object } | null> }[]} cases
 * @param {number} allowed
 */
async function compare(form, opset, cases, allowed = TOLERANCE) {
  if (!form.includes(values.only)) return;
  for (const runtime of RUNTIMES) {
    const row = { form, opset, runtime: runtime.name, models: 0, withAttention: 0, difference: 0, failed: [] };
    for (const { name, run } of cases) {
      try {
        const result = await run(runtime);
        if (!result) continue;
        row.models++;
        if (hasAttention(result.files)) row.withAttention++;
        if (!(result.difference <= row.difference)) row.difference = result.difference;
        if (!(result.difference <= allowed)) row.failed.push(`${name}: off by ${result.difference} ${result.at ?? ''}`);
        if (opset === 17 && runtime === RUNTIMES[0]) keep(form, name, result.files);
      } catch (error) {
        row.failed.push(`${name}: ${error.message}`);
      }
    }
    rows.push(row);
    console.log(lineOf(row));
    for (const failure of row.failed) console.log(`    ${failure}`);
  }
}

const lineOf = ({ form, opset, runtime, models, withAttention, difference, failed }) =>
  [
    form.padEnd(42),
    opset,
    runtime.padEnd(17),
    String(models).padStart(4),
    String(withAttention).padStart(4),
    difference.toExponential(1),
    failed.length ? `${failed.length} FAILED` : '',
  ].join('  ');

/** Writes files for the check in Python. */
function keep(form, name, files) {
  const folder = join(FOLDER, String(written++));
  mkdirSync(folder, { recursive: true });
  for (const [file, bytes] of Object.entries(files)) writeFileSync(join(folder, file), bytes);
  writeFileSync(join(folder, 'name'), `${form}, ${name}`);
}

const seeds = (count) => Array.from({ length: Number(count) }, (_, i) => i + 1);

/**
 * Compares layers. For int8 weights, it also reports the difference from the int8 layer itself, which rounds inputs
 * too.
 */
function layerCases(opset, int8 = false) {
  return seeds(values.layers).flatMap((seed) => {
    const choice = chooseLayer(seed);
    if (int8 && choice.layer.weights !== 'int8') return [];
    const run = async (runtime) => {
      const hl = await load();
      const { files, differences, own } = await compareLayer(hl, choice, opset, runtime);
      hl.dispose();
      return { files, difference: Math.max(...Object.values(int8 ? own : differences)) };
    };
    return [{ name: `seed ${seed}`, run }];
  });
}

const everyModel = () => [
  ...familyCases,
  ...seeds(values.models).map((seed) => {
    const { options, input } = randomModel(seed);
    return { name: `random, seed ${seed}`, input, open: (hl) => hl.transformer(options) };
  }),
];

/** @param {(model: object, input: object, runtime: object, hl: object) => Promise<object | null>} compareOne */
const modelCases = (compareOne) =>
  everyModel().map(({ name, input, open }) => ({
    name,
    async run(runtime) {
      const hl = await load();
      try {
        return await compareOne(await open(hl), input, runtime, hl);
      } finally {
        hl.dispose();
      }
    },
  }));

/**
 * Compares the outputs of a model, without intermediate values, so that attention may be a single operator.
 * @param {object} model the model from which the files are made
 * @param {object} [reference] the model that gives the expected results
 */
async function compareOutputs(model, given, options, runtime, reference = model) {
  const input = complete(given);
  const files = await model.toOnnx({ ...inputsOf(input), ...options });
  const session = await openOnnx(files, 'model.onnx', runtime);
  const got = await session.run(feedsOf(input));
  await session.close();
  const result = reference.forward(input);
  const differences = Object.entries(got).map(([name, tensor]) =>
    off(tensor, { data: result[name].copy(), shape: result[name].shape }),
  );
  return { files, difference: differences.length ? Math.max(...differences) : NaN };
}

/**
 * Compares a model with int8 weights with a float32 model that has the rounded weights, because ONNX does not round the
 * inputs of products.
 */
const compareInt8 = (opset) => async (model, input, runtime, hl) => {
  model.quantize();
  const same = hl.transformer(model.options).loadStateDict(model.stateDict());
  return compareOutputs(model, input, { opset }, runtime, same);
};

/** Compares a model with a cache. Only decoders have a cache. */
const compareWithCache = (opset) => (model, input, runtime) =>
  model.options.causal && model.options.head === 'logits'
    ? compareCached(model, input, Math.min(3, input.ids.shape[1]), { opset }, runtime)
    : null;

rmSync(FOLDER, { recursive: true, force: true });
const float = await load();
const allowedInt8 = int8Tolerance(float);
float.dispose();
console.log(`${'form'.padEnd(42)}  op  ${'runtime'.padEnd(17)}  all  with Attention  off by`);
for (const opset of OPSETS) {
  await compare('layers and attention', opset, layerCases(opset));
  await compare('int8 layers, which also round inputs', opset, layerCases(opset, true), allowedInt8);
  await compare(
    'models',
    opset,
    modelCases((model, input, runtime) => compareOutputs(model, input, { opset }, runtime)),
  );
  await compare(
    'models with weights and intermediate values',
    opset,
    modelCases((model, input, runtime) => compareModel(model, input, { opset }, runtime)),
  );
  await compare('models with a cache, token by token', opset, modelCases(compareWithCache(opset)));
  await compare('models with int8 weights', opset, modelCases(compareInt8(opset)));
}
if (rows.some(({ failed }) => failed.length)) process.exitCode = 1;

try {
  console.log(execFileSync('/usr/bin/python3', [CHECK, FOLDER], { encoding: 'utf8' }).trimEnd());
} catch (error) {
  if (error.status === 2) console.log('no python3-onnx here: the files of opset 17 are not checked');
  else {
    console.log(`${error.stdout ?? error.message}`.trimEnd());
    process.exitCode = 1;
  }
}
