import assert from 'node:assert/strict';
import test from 'node:test';
import { HeadlightError } from 'headlight-attention';
import * as analysis from 'headlight-attention/analysis';
import * as onnx from 'headlight-attention/onnx';
import { hl } from '../../support/headlight.js';

/** The functions by name. */
const ALL = { ...analysis, ...onnx };
const WRONG = [[], [null], [{}], [5], ['x'], [[]], [{ options: null }]];

/** Calls a function with wrong arguments. It must work or throw a HeadlightError. */
async function assertRefused(name, call, ...args) {
  try {
    await call(...args);
  } catch (error) {
    assert.ok(error instanceof HeadlightError, `${name}(${args.map(String)}): ${error.stack}`);
    return error;
  }
  return undefined;
}

test('every function of analysis and onnx refuses a missing or wrong first argument by name', async () => {
  for (const [name, call] of Object.entries(ALL))
    if (typeof call === 'function') for (const args of WRONG) await assertRefused(name, call, ...args);
});

test('functions of a model name the parameter model', async () => {
  const names = ['logitLens', 'attribution', 'composition', 'scanHeads', 'edgeGraph', 'runEdges', 'meanContributions'];
  for (const name of [...names, 'fitJacobianLens', 'attributionPatching', 'findCircuit'])
    for (const args of [[], [null], [{}]]) {
      const error = await assertRefused(name, ALL[name], ...args);
      assert.deepEqual([error?.code, error?.parameter], ['ARGUMENT', 'model'], `${name}: ${error?.message}`);
      assert.match(error.message, new RegExp(`^${name}: model is`));
    }
});

test('every function of analysis refuses missing arguments after the model', async () => {
  const model = hl.transformer({ layers: 1, dModel: 8, numHeads: 2, vocab: 5, context: 4 });
  for (const [name, call] of Object.entries(analysis))
    for (const rest of [
      [],
      [null],
      [[]],
      [[1, 2]],
      [[1, 2], null],
      [
        [1, 2],
        [1, 3],
      ],
      [{}, {}, {}],
    ])
      if (typeof call === 'function') await assertRefused(name, call, model, ...rest);
  model.dispose();
});
