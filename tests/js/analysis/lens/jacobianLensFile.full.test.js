// Checks that PyTorch reads the files of writeJacobianLens with weights_only, and that readJacobianLens reads files
// that PyTorch wrote.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { readJacobianLens, writeJacobianLens } from 'headlight-attention/analysis';

const python = ['python3', '/usr/bin/python3'].find((name) => spawnSync(name, ['-c', 'import torch']).status === 0);
const skip = python ? false : 'no PyTorch here (Debian: python3-torch)';
const C = 3;
const PROGRAM = `
import json, sys, torch
lens = torch.load(sys.argv[1], map_location="cpu", weights_only=True)
assert all(m.dtype == torch.float16 for m in lens["J"].values())
print(json.dumps({**lens, "J": {k: m.float().tolist() for k, m in lens["J"].items()}}))
lens["J"] = {k: m.to(t).t() for (k, m), t in zip(lens["J"].items(), [torch.float32, torch.bfloat16, torch.float16])}
torch.save(lens, sys.argv[2])
`;

test('PyTorch and Headlight read the lenses of each other', { skip }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'headlight-'));
  try {
    const layers = [0, 2, 300];
    const dataOf = (layer) => Float32Array.from({ length: C * C }, (_, i) => (i - 4) / 4 + layer);
    const matrices = Object.fromEntries(layers.map((layer) => [layer, { data: dataOf(layer), shape: [C, C] }]));
    const [mine, theirs] = ['mine.pt', 'theirs.pt'].map((name) => join(folder, name));
    writeFileSync(mine, writeJacobianLens({ layers, matrices, prompts: 5000000000, width: C, changes: [] }));
    const { stdout, stderr, status } = spawnSync(python, ['-c', PROGRAM, mine, theirs], { encoding: 'utf8' });
    assert.equal(status, 0, stderr);
    const { J, ...fields } = JSON.parse(stdout);
    assert.deepEqual(fields, { n_prompts: 5000000000, source_layers: layers, d_model: C });
    const rows = ({ data }) => Array.from({ length: C }, (_, i) => [...data.subarray(i * C, (i + 1) * C)]);
    for (const layer of layers) assert.deepEqual(J[layer], rows(matrices[layer]));
    // The file that PyTorch wrote has the transposed matrices, in three types.
    const lens = readJacobianLens(readFileSync(theirs));
    assert.deepEqual([lens.layers, lens.prompts, lens.width], [layers, 5000000000, C]);
    for (const layer of layers)
      assert.deepEqual(
        rows(lens.matrices[layer]),
        rows(matrices[layer]).map((_, i, all) => all.map((row) => row[i])),
      );
  } finally {
    rmSync(folder, { recursive: true });
  }
});
