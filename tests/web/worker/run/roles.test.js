// Tests the names of roles in the worker: of a model whose heads have known roles, before and after a scan, and after
// the scan is saved as a HeadVis folder and opened again. Also attention weights without a model.

import assert from 'node:assert/strict';
import test from 'node:test';
import { headRoles } from '../../../../src/js/analysis/roles/headRoles.ts';
import { readZip, unpack } from '../../../../src/js/io/zip.ts';
import { initialState } from '../../../../web/model/state.ts';
import { hl } from '../../../support/headlight.js';
import { createWorker } from '../../../support/pageWorker.js';
import { plainRole, plainRoles } from '../../../support/plain_scan.js';
import { firstTokenFiles, PLANTED, plantedFiles, TEXTS } from '../../../support/plantedModel.js';

const listOf = (files) => Object.entries(files).map(([path, bytes]) => ({ path, file: new Blob([bytes]) }));
const state = (more) => ({ ...initialState, model: 'opened-1', ...more });
const rolesIn = ({ roles: [part] }) => ({ roles: part.roles, weights: part.weights });

/** Opens a model, scans texts, and returns the roles that the page shows at each step. */
async function rolesOfFiles(files) {
  const worker = createWorker(hl);
  await worker.open(listOf(files));
  const before = rolesIn(await worker.show({ text: TEXTS[0] }));
  const { atlasMap } = await worker.ask({
    verb: 'scan',
    state: state(),
    corpus: { title: 'mine', texts: TEXTS },
    length: 64,
  });
  const { map } = atlasMap.at(-1);
  const after = rolesIn(await worker.show({ text: TEXTS[1] }));
  const saved = await worker.ask({ verb: 'saveHeadvis', state: state(), key: map.key, title: 'planted' });
  const folder = {};
  for (const entry of readZip('test', saved.headvisFile[0].bytes)) folder[entry.name] = await unpack('test', entry);
  const other = createWorker(hl);
  await other.open(listOf(folder));
  const imported = rolesIn(await other.show());
  const opened = (await other.ask({ verb: 'storedScan', state: state() })).atlasMap[0].map;
  return { before, after, imported, map, opened };
}

for (const [name, files, expected] of [
  ['heads with known roles', plantedFiles, PLANTED],
  ['a model that attends only to the first token', firstTokenFiles, [0, 1].map(() => new Array(4).fill('first'))],
])
  test(`${name}: the names are the same before and after a scan, and after export and import`, async () => {
    const { before, after, imported, map, opened } = await rolesOfFiles(files());
    assert.deepEqual(before.roles, expected);
    assert.deepEqual(after, before);
    assert.deepEqual(imported.roles, expected);
    imported.weights.flat().forEach((weight, i) => {
      const known = before.weights.flat()[i];
      if (known === null) assert.equal(weight, null);
      else assert.ok(known > 0.5 && Math.abs(weight - known) < 1e-4);
    });
    // The scan has its own measures, from which the same names follow for these texts.
    const numbers = (values) => ({ data: values, shape: [2, 4] });
    const measures = (all) => Object.fromEntries(Object.entries(all).map(([role, list]) => [role, numbers(list)]));
    assert.deepEqual(headRoles({ mean: measures(map.means), chance: measures(map.chances) }).names, expected);
    for (const [role, list] of Object.entries(map.means))
      list.forEach((value, i) => {
        const read = opened.means[role][i];
        assert.ok(Number.isNaN(value) ? Number.isNaN(read) : Math.abs(read - value) < 1e-4);
      });
  });

test('the roles of the demo model equal plain loops over the passages on which they are measured', async () => {
  const worker = createWorker(hl);
  const { roles, weights } = rolesIn(await worker.ask({ verb: 'show', state: initialState }));
  const model = await hl.openModel('demo');
  const { saidTwice } = await import('../../../../web/model/repeatedPassages.ts');
  const ids = saidTwice(model.options.vocab, 1, 4);
  const length = ids.shape[1];
  const { captured } = model.forward({ ids }, { capture: ['blocks.*.weights'] });
  const sequences = [0, 1, 2, 3].map((b) => Array.from(ids.data.subarray(b * length, (b + 1) * length)));
  for (const [l, row] of roles.entries())
    for (const [h, role] of row.entries()) {
      const data = captured[`blocks.${l}.weights`].data;
      const size = length ** 2;
      const own = sequences.map((_, b) => data.slice((b * row.length + h) * size, (b * row.length + h + 1) * size));
      const measures = plainRoles(sequences, own);
      assert.equal(role, plainRole(measures), `${l}.${h}`);
      if (role) assert.ok(Math.abs(weights[l][h] - measures.mean[role]) < 1e-4);
    }
  model.dispose();
});

test('weights from a file get the roles that they show; two tokens show none', async () => {
  const named = async (weights, tokens) => {
    const worker = createWorker(hl);
    await worker.open([{ path: 'attention.json', file: new Blob([JSON.stringify({ attention: weights, tokens })]) }]);
    return rolesIn(await worker.show());
  };
  const two = await named([
    [
      [1, 0],
      [1, 0],
    ],
  ]);
  assert.deepEqual(two, { roles: [[null]], weights: [[null]] });
  const T = 8;
  const toPrevious = Array.from({ length: T }, (_, t) =>
    Array.from({ length: T }, (__, s) => Number(s === Math.max(t - 1, 0))),
  );
  const toFirst = Array.from({ length: T }, () => Array.from({ length: T }, (_, s) => Number(s === 0)));
  assert.deepEqual(await named([toPrevious, toFirst]), { roles: [['previous', 'first']], weights: [[1, 1]] });
});

test('heads without a model have no stored scan and no estimate, also after a scan of another model', async () => {
  const worker = createWorker(hl);
  await worker.ask({
    verb: 'scan',
    state: initialState,
    corpus: { title: 'mine', texts: ['Call me Ishmael. Call me Ishmael.'] },
    length: 16,
  });
  const constructed = { ...initialState, model: 'constructed' };
  assert.deepEqual(await worker.ask({ verb: 'storedScan', state: constructed, estimate: true }), {});
});
