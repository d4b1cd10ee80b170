// Tests the names of roles: of a model whose heads have known roles, of a model that attends only to its first token,
// and of small weights, by plain loops.

import assert from 'node:assert/strict';
import test from 'node:test';
import { headRoles, readHeadvis, scanHeads, writeHeadvis } from 'headlight-attention/analysis';
import { uniformSource } from '../../../../src/js/ops/random.ts';
import { saidTwice } from '../../../../web/model/repeatedPassages.ts';
import { hl } from '../../../support/headlight.js';
import { plainRole, plainRoles } from '../../../support/plain_scan.js';
import { firstTokenFiles, PLANTED, plantedFiles, TEXTS } from '../../../support/plantedModel.js';

/** Returns the weights of every layer of a model on random passages that occur twice. */
function weightsOn(model, ids) {
  return hl.scope(() => {
    const { captured } = model.forward({ ids }, { capture: ['blocks.*.weights'] });
    return Array.from({ length: model.options.layers }, (_, l) => ({
      data: captured[`blocks.${l}.weights`].copy(),
      shape: [...captured[`blocks.${l}.weights`].shape],
    }));
  });
}
const allFirst = [0, 1].map(() => new Array(4).fill('first'));

for (const [name, files, expected] of [
  ['heads with known roles get their names', plantedFiles, PLANTED],
  ['in a model that attends only to the first token no head gets another name', firstTokenFiles, allFirst],
])
  test(`${name}: on repeated passages, in a scan, and in the files of HeadVis`, async () => {
    const model = await hl.openModel(files());
    const ids = saidTwice(model.options.vocab, 1, 2);
    const named = headRoles(weightsOn(model, ids), { ids });
    assert.deepEqual(named.names, expected);
    named.names.forEach((row, l) =>
      row.forEach((role, h) => {
        if (role === null) assert.equal(named.weights[l][h], null);
        else assert.equal(named.weights[l][h], named.mean[role].data[l * 4 + h]);
      }),
    );
    // In texts in which hardly anything repeats, the induction head has no rows.
    const scan = await scanHeads(model, TEXTS);
    assert.deepEqual(headRoles(scan.roles).names, expected);
    const read = await readHeadvis(writeHeadvis(scan, { model: 'planted', dataset: 'texts' }));
    assert.deepEqual(read.roles.names, expected);
    model.dispose();
  });

test('measures of weights equal plain loops, with and without later keys', () => {
  const random = uniformSource(3);
  const [B, H, T] = [2, 3, 11];
  for (const causal of [true, false]) {
    const ids = Array.from({ length: B }, () => Array.from({ length: T }, () => Math.floor(random() * 4)));
    const data = Float32Array.from({ length: B * H * T * T }, (_, i) =>
      causal && i % T > Math.floor(i / T) % T ? 0 : random() / T,
    );
    const named = headRoles([{ data, shape: [B, H, T, T] }], { ids: { data: ids.flat(), shape: [B, T] } });
    for (let h = 0; h < H; h++) {
      const weights = ids.map((_, b) => data.subarray((b * H + h) * T * T, (b * H + h + 1) * T * T));
      const expected = plainRoles(ids, weights, causal ? (t, s) => s <= t : () => true);
      for (const measure of ['mean', 'chance'])
        for (const [role, value] of Object.entries(expected[measure]))
          assert.ok(Math.abs(named[measure][role].data[h] - value) < 1e-6, `${measure} ${role}`);
      assert.equal(named.names[0][h], plainRole(expected));
    }
  }
});

test('a role needs more than half of the weight, and more than twice the chance', () => {
  const one = (x) => ({ data: Float32Array.of(x), shape: [1, 1] });
  const nameOf = (mean, chance) =>
    headRoles({ mean: { induction: one(mean) }, chance: { induction: one(chance) } }).names[0][0];
  assert.equal(nameOf(0.51, 0.1), 'induction');
  assert.equal(nameOf(0.5, 0.1), null);
  assert.equal(nameOf(0.75, 0.375), null);
  assert.equal(nameOf(0.76, 0.375), 'induction');
  assert.equal(nameOf(Number.NaN, 0.1), null);
  assert.equal(nameOf(0.9, Number.NaN), null, 'the chance is unknown');
});

test('two tokens show no role', () => {
  for (const weights of [
    [1, 0, 1, 0],
    [1, 0, 0, 1],
    [1, 0, 0.5, 0.5],
  ])
    assert.deepEqual(headRoles([{ data: Float32Array.from(weights), shape: [1, 1, 2, 2] }]).names, [[null]]);
});

test('wrong arguments are refused', () => {
  const weights = [{ data: new Float32Array(9), shape: [1, 1, 3, 3] }];
  const refuses = (code, parameter, ...given) => assert.throws(() => headRoles(...given), { code, parameter });
  refuses('ARGUMENT', 'source', undefined);
  refuses('ARGUMENT', 'source', { mean: {}, chance: {} });
  refuses('ARGUMENT', 'weights', []);
  refuses('SHAPE', 'weights[0]', [{ data: new Float32Array(6), shape: [1, 1, 2, 3] }]);
  refuses('SHAPE', 'weights[1]', [...weights, { data: new Float32Array(4), shape: [1, 1, 2, 2] }]);
  refuses('SHAPE', 'ids', weights, { ids: [1, 2] });
  refuses('ARGUMENT', 'keep', weights, { keep: [1, 1, 1] });
});
