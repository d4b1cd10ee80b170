// Checks that exports (programs, arrays and the table) reproduce the displayed weights.

import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import test, { before } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { readNpy, readSafetensors } from 'headlight-attention/formats';
import { allOf, toJson, toNpy, toSafetensors } from '../../../../web/features/export/arrays.ts';
import { inJavaScript, inPython } from '../../../../web/features/export/headProgram.ts';
import { spreadOf } from '../../../../web/features/heads/weightStatistics.ts';
import { weightsOf } from '../../../../web/model/derivation.ts';
import { change, initialState } from '../../../../web/model/state.ts';
import { createAnswerer } from '../../../../web/worker/requests.ts';
import { findIn } from '../../../../web/worker/sources/fileContents.ts';
import { hl } from '../../../support/headlight.js';
import { fullTest } from '../../../support/tier.js';
import { whaleFile } from '../../../support/whale.js';

const folder = fileURLToPath(new URL('../../../../dist/test/', import.meta.url));
let answer;
const parts = {};
before(() => {
  mkdirSync(folder, { recursive: true });
  answer = createAnswerer({
    load: async () => hl,
    fetchBeside: (name) => whaleFile(name.replace('whale.tokenizer', 'tokenizer')),
    post: (message) => (parts[message.part ?? 'end'] = message),
  });
});
async function runOf(patch) {
  await answer({ verb: 'show', id: 1, state: change(initialState, patch) });
  assert.equal(parts.end?.error, undefined);
  return { ...parts.run, S: parts.run.S ?? parts.run.T, about: parts.source.about };
}
const STATES = [
  {},
  { temperature: { all: 2 }, mask: { all: '2' }, painted: { all: '5.3-5' } },
  { model: 'constructed', text: '*/ \u2028"</script> the cat saw the cat', layer: 0, head: 4 },
];
const shown = ({ pieces }) => {
  const names = pieces.map(({ name }) => name);
  return { title: 'a head\nprocess.exit(1)', queries: names, keys: names };
};

test('the program in JavaScript runs and prints the shown weights', async () => {
  for (const patch of STATES) {
    const run = await runOf(patch);
    const program = inJavaScript(run, shown(run));
    assert.doesNotMatch(program, /bias/, 'nothing but query times key is in these scores');
    const file = `${folder}program.mjs`;
    writeFileSync(
      file,
      program.replace('console.log(weights', 'console.log(JSON.stringify(weights').replace('[0][0]);', '[0][0]));'),
    );
    const { stdout } = await promisify(execFile)(process.execPath, [file]);
    const weights = weightsOf(run, run.layer, run.head);
    JSON.parse(stdout.split('\n')[0])
      .flat()
      .forEach((weight, i) => assert.ok(Math.abs(weight - weights[i]) <= 2e-5, `${i}: ${weight}, not ${weights[i]}`));
  }
});

test('the bias of the scores is in the program', async () => {
  const run = await runOf({ model: 'constructed', text: 'so it is', layer: 0, head: 6 });
  const scores = run.values.scores.map((score, i) => score + i / 3);
  const program = inJavaScript({ ...run, values: { ...run.values, scores } }, shown(run));
  assert.match(program, /bias = \[[\s\S]*\n {2}bias,/);
});

test('the scale, the temperature and the sink of a model are in the program', async () => {
  const run = await runOf({ model: 'constructed', text: 'so it is', layer: 0, head: 6 });
  const steps = [
    { kind: 'scale', scale: 1 },
    { kind: 'temperature', by: 4 },
  ];
  const program = inJavaScript({ ...run, values: { ...run.values, steps, sink: 0.5 } }, shown(run));
  assert.match(program, /scale: 0.25,[\s\S]*sinks: \[0.5\],/);
});

fullTest('the program for PyTorch is valid Python, and prints the same weights if torch is installed', async (t) => {
  for (const patch of STATES) {
    const run = await runOf(patch);
    const program = inPython(run, shown(run));
    const file = `${folder}program.py`;
    writeFileSync(file, program);
    const compiled = spawnSync('python3', ['-c', `compile(open(${JSON.stringify(file)}).read(), 'program', 'exec')`]);
    if (compiled.error) return t.skip('there is no python3');
    assert.equal(compiled.status, 0, String(compiled.stderr));
    if (spawnSync('python3', ['-c', 'import torch']).status !== 0) continue;
    writeFileSync(file, program.replace('print(weights)', 'print(weights.tolist())').replace('print(output)\n', ''));
    const { status, stdout, stderr } = spawnSync('python3', [file], { encoding: 'utf8' });
    assert.equal(status, 0, stderr);
    const weights = weightsOf(run, run.layer, run.head);
    JSON.parse(stdout)
      .flat()
      .forEach((weight, i) => assert.ok(Math.abs(weight - weights[i]) <= 2e-5, `${i}`));
  }
});

test('npy, safetensors and JSON files contain the shown weights of all heads', async () => {
  const run = await runOf({});
  const names = run.pieces.map(({ name }) => name);
  const all = allOf(run, names, names);
  assert.deepEqual(all.shape, [5, 4, run.T, run.T]);
  assert.deepEqual(readNpy(toNpy(all)).data, run.weights);
  assert.deepEqual(readSafetensors(toSafetensors(all)).tensors.attentions.data, run.weights);
  for (const [name, content] of [
    ['a.json', toJson(all)],
    ['a.safetensors', toSafetensors(all)],
  ]) {
    const { tensors, tokens } = await findIn([{ path: name, file: new File([content], name) }]);
    assert.deepEqual([tensors.length, tensors[0].shape, tokens.queries], [1, all.shape, names]);
    assert.deepEqual(await tensors[0].read(0, 7), run.weights.slice(0, 7));
  }
  assert.match(toJson({ ...all, weights: Float32Array.of(Number.NaN) }), /\[null\]/);
});

test('uniform rows have the entropy log2 of their keys; a previous-token head has distance 1', () => {
  assert.deepEqual(spreadOf(new Float32Array(16).fill(0.25), 4, 4).entropy, 2);
  const back = Float32Array.of(0, 0, 0, 1, 0, 0, 0, 1, 0);
  assert.deepEqual(spreadOf(back, 3, 3), { entropy: 0, distance: 1 });
});
