// Tests that the page and the module open whatever either of them saves: each kind of file is dropped on the page, is
// chosen in its menu, and is given to `openModel`. Files that hold no model are refused by their kind.

import assert from 'node:assert/strict';
import test from 'node:test';
import { HEAD_ROLES } from '../../../../src/js/analysis/roles/roleRules.ts';
import { writeZip } from '../../../../src/js/io/zip.ts';
import { toCsv } from '../../../../web/drawing/export/csv.ts';
import { toJson, toNpy, toSafetensors } from '../../../../web/features/export/arrays.ts';
import { usualSettings } from '../../../../web/model/training/tasks.ts';
import { headvisArchive } from '../../../../web/worker/atlas/headvisArchive.ts';
import { Trainer } from '../../../../web/worker/trainer/trainer.ts';
import { hl } from '../../../support/headlight.js';
import { openChooser, openPage, page, spoil } from '../../../support/page.js';
import { fullTest } from '../../../support/tier.js';
import { attentions } from '../../../support/weights_file.js';

const demo = await hl.openModel('demo');
const folder = await demo.saveFolder();
const options = { layers: 2, dModel: 16, numHeads: 2, vocab: 11, context: 12 };
const small = hl.transformer({ ...options, seed: 3 });
const weights = attentions([2, 2, 3, 3], true);
const all = { weights: weights.data, shape: weights.shape, queries: ['a', 'b', 'c'], keys: ['a', 'b', 'c'] };

/** Returns the file of a model that this page has trained. */
function trainedModel() {
  const trainer = new Trainer(hl, { ...usualSettings('copy'), layers: 1, heads: 2, width: 16, mlp: false });
  trainer.step();
  return trainer.save();
}

/** Returns the archive that the atlas of the page saves: one layer of two heads, with a passage for each head. */
function headvisFile() {
  const sample = { sequence: 0, interval: 1, max: 1, ids: Uint32Array.of(0, 1), indices: [0, 2], values: [1, 1] };
  const record = (/** @type {number} */ layer, /** @type {number} */ head) => ({
    ...{ layer, head, samples: [sample], histogram: { edges: [0, 0.5, 1], values: [1, 1] } },
    ...{ statistics: { samples: 2, meanMax: 0.5 }, distances: { edges: [0, 1, 2], values: [0.5, 0.25] } },
    ...{ queryTokens: [], keyTokens: [] },
  });
  const names = ['selfAttention', 'previous', 'entropy', 'distance', 'distanceVariance', 'induction'];
  const measures = Object.fromEntries([...names, 'first', 'duplicate'].map((name) => [name, new Float32Array(2)]));
  const byRole = () => Object.fromEntries(HEAD_ROLES.map((role) => [role, new Float32Array(2)]));
  const roles = { means: byRole(), chances: byRole() };
  const map = { layers: 1, heads: 2, passages: 1, longest: 2, title: 'texts', measures, ...roles };
  const read = async (/** @type {number} */ layer, /** @type {number} */ head) => record(layer, head);
  return headvisArchive({ map, nameOf: (id) => ['the', ' whale'][id], read }, 'a model', null);
}

const oneHead = toCsv({ ...all, weights: weights.data, shape: [1, 1, 3, 3] }, { batch: 0, head: 0 });

/**
 * The kinds of files. heads: number of heads that the page shows; problem: the message of the page that refuses it.
 * layers: number of layers of the model that openModel returns; refusal: its error.
 */
const KINDS = {
  'the folder of saveFolder, as files': { files: folder, heads: 20, layers: 5 },
  'the folder of saveFolder, as a zip archive': { files: { 'm.zip': writeZip(folder) }, heads: 20, layers: 5 },
  'a GGUF file of saveGguf': {
    files: { 'm.gguf': await demo.saveGguf() },
    heads: 20,
    layers: 5,
  },
  'the file of save': { files: { 'm.safetensors': small.save() }, heads: 4, layers: 2 },
  'a model that the page has trained': { files: { 'trained.safetensors': trainedModel() }, training: true, layers: 1 },
  'a HeadVis folder as a zip archive': {
    files: { 'headvis.zip': await headvisFile() },
    atlas: true,
    refusal: /HeadVis folder, which has no model: readHeadvis/,
  },
  'attention weights as safetensors': {
    files: { 'w.safetensors': toSafetensors(all) },
    heads: 4,
    refusal: /there is no config\.json/,
  },
  'attention weights as npy': { files: { 'w.npy': toNpy(all) }, heads: 4, refusal: /has arrays, not a model/ },
  'attention weights as npz': {
    files: { 'w.npz': writeZip({ 'attentions.npy': toNpy(all) }) },
    heads: 4,
    refusal: /has arrays, not a model/,
  },
  'attention weights as JSON': { files: { 'w.json': toJson(all) }, heads: 4, refusal: /there is no config\.json/ },
  'attention weights of a head as CSV': { files: { 'w.csv': oneHead }, heads: 1, refusal: /is a table, not a model/ },
  'a table of results as CSV': {
    files: { 't.csv': 'layer,head,score\r\n0,1,0.5\r\n' },
    problem: /t\.csv is a table of results/,
    refusal: /is a table, not a model/,
  },
  'an ONNX file': {
    files: { 'm.onnx': new Uint8Array([8, 8, 18, 9]) },
    problem: /m\.onnx is an ONNX file/,
    refusal: /is an ONNX file, which cannot be opened/,
  },
};

/** @param {Record<string, any>} files @returns {{ name: string, buffer: Buffer }[]} */
const listed = (files) =>
  Object.entries(files).map(([name, content]) => ({
    name,
    buffer: Buffer.from(content),
  }));

/** Drops files on the page. @param {ReturnType<typeof listed>} files */
const drop = (files) =>
  page.evaluate(
    (list) => {
      const data = new DataTransfer();
      for (const [name, content] of list)
        data.items.add(new File([Uint8Array.from(atob(content), (letter) => letter.charCodeAt(0))], name));
      for (const type of ['dragenter', 'dragover', 'drop'])
        part('.page').dispatchEvent(
          new DragEvent(type, { dataTransfer: data, bubbles: true, cancelable: true, composed: true }),
        );
    },
    files.map(({ name, buffer }) => /** @type {const} */ ([name, buffer.toString('base64')])),
  );

/** Chooses files in the menu. @param {ReturnType<typeof listed>} files */
async function choose(files) {
  await openChooser();
  const input = page.locator('input[data-name=files]');
  await input.setInputFiles(files.map((file) => ({ ...file, mimeType: 'application/octet-stream' })));
}

/** Waits until the page shows the file or says why not. @param {any} kind */
async function isShown({ heads, training = false, atlas = false, problem }) {
  if (training) return page.waitForFunction(() => part('.trainbar') !== null);
  if (atlas)
    return page.waitForFunction(() => part('.atlas-header') && !/Moby/.test(part('.model-menu .under').textContent));
  if (problem) {
    await page.locator('.problem').waitFor();
    return assert.match((await page.locator('.problem').textContent()) ?? '', problem);
  }
  return page.waitForFunction(
    (count) =>
      part('.page').dataset.busy === 'false' &&
      !/Moby/.test(part('.model-menu .under').textContent) &&
      document.querySelector('body > div').shadowRoot.querySelectorAll('[data-head]').length === count,
    heads,
  );
}

/** Kinds that are dropped in the default tier: one for each reader. Tests of each reader read the other kinds. */
const DROPPED = [
  'the folder of saveFolder, as a zip archive',
  'a GGUF file of saveGguf',
  'a model that the page has trained',
  'attention weights as npz',
  'an ONNX file',
];
for (const [kind, { files, layers, refusal, ...expected }] of Object.entries(KINDS)) {
  // Both ways lead to the same reader, so the menu is tried in the full tier.
  for (const [how, give, define] of /** @type {const} */ ([
    ['dropped', drop, DROPPED.includes(kind) ? test : fullTest],
    ['chosen in the menu', choose, fullTest],
  ]))
    define(`${kind}, ${how}, is ${expected.problem ? 'refused by its kind' : 'opened'}`, async () => {
      await openPage();
      spoil();
      await give(listed(files));
      await isShown(expected);
    });
  test(`${kind}, given to openModel, is ${refusal ? 'refused by its kind' : 'opened'}`, async () => {
    const given = Object.fromEntries(listed(files).map(({ name, buffer }) => [name, new Uint8Array(buffer)]));
    if (refusal) return assert.rejects(hl.openModel(given), refusal);
    const model = await hl.openModel(given);
    assert.equal(model.options.layers, layers);
    model.dispose();
  });
}
