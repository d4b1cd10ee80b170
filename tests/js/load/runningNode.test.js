// Runs the built package on the Node that runs npm, which may be older than the Node of the other tests.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import test from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const PROGRAM = `
  import { load } from 'headlight-attention';
  import { attribution } from 'headlight-attention/analysis';
  import { readNpy, writeNpy } from 'headlight-attention/formats';
  const hl = await load({ threads: 2 });
  const x = [[[1, 0], [0, 1]]];
  const { output, weights } = hl.attention(x, x, x, { causal: true, weights: true });
  const { data } = readNpy(writeNpy({ data: output.copy(), shape: output.shape }));
  const model = hl.transformer({ layers: 1, dModel: 8, numHeads: 2, vocab: 9, context: 8, seed: 1 });
  const { ids } = await model.generate([1, 2], { max: 3 });
  const said = [typeof attribution, [...data].map((value) => value.toFixed(4)), weights.shape, ids.length];
  process.stdout.write(JSON.stringify(said), () => process.exit());
`;

test('load, attention, a model, files and analysis work on the Node in use', () => {
  const node = process.env.HEADLIGHT_NODE || process.execPath;
  const { stdout, stderr } = spawnSync(node, ['--input-type=module', '-e', PROGRAM], { cwd: root, encoding: 'utf8' });
  assert.notEqual(stdout, '', stderr);
  // The last two weights are the softmax of (0, 1/√2).
  assert.deepEqual(JSON.parse(stdout), ['function', ['1.0000', '0.0000', '0.3302', '0.6698'], [1, 1, 2, 2], 3]);
});
