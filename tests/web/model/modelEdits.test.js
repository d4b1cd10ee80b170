import assert from 'node:assert/strict';
import test from 'node:test';
import { editsOf, patchedHeads } from '../../../web/model/forwardEdits.ts';
import {
  effective,
  isCompared,
  KNOB,
  layerPlace,
  otherCase,
  placeIn,
  replacementOf,
  temperatureText,
  toKnob,
  toTemperature,
  withPlace,
} from '../../../web/model/modelEdits.ts';
import { change, initialState } from '../../../web/model/state.ts';
import { readAddress, writeAddress } from '../../../web/store/address.ts';

const SIZE = { layers: 2, heads: 3 };
const run = (patch) => ({ ...initialState, ...patch });

test('the value at a head is that of the most specific place', () => {
  const map = { all: 1, 1: 2, 1.2: 3 };
  assert.deepEqual(
    [effective(map, 0, 0, 9), effective(map, 1, 0, 9), effective(map, 1, 2, 9), effective({}, 1, 2, 9)],
    [1, 2, 3, 9],
  );
});

test('setting a place replaces the values of places inside it', () => {
  const map = { 0: 5, 1.2: 3, 1.1: 4 };
  assert.deepEqual(withPlace(map, placeIn('layer', 1, 2), 2, 1), { 0: 5, 1: 2 });
  assert.deepEqual(withPlace(map, placeIn('all', 1, 2), 1, 1), {});
  assert.deepEqual(withPlace({ all: 2 }, placeIn('head', 1, 2), 1, 1), { all: 2, 1.2: 1 });
});

test('the attentions of an encoder–decoder have places of their own', () => {
  const map = { all: 1, eall: 2, e1: 3, 'e1.2': 4, 'c0.1': 5 };
  const at = (part, layer, head) => effective(map, layerPlace(part, layer), head, 9);
  assert.deepEqual([at('decoder', 1, 2), at('encoder', 0, 2), at('encoder', 1, 0), at('encoder', 1, 2)], [1, 2, 3, 4]);
  assert.deepEqual([at('cross', 0, 1), at('cross', 0, 0)], [5, 9]);
  assert.deepEqual(withPlace(map, placeIn('all', 'e0', 1), 7, 1), { all: 1, eall: 7, 'c0.1': 5 });
  assert.deepEqual(withPlace(map, placeIn('all', '0', 1), 7, 1), { ...map, all: 7 });
  assert.deepEqual(withPlace(map, placeIn('layer', 'c0', 1), 7, 1), { all: 1, eall: 2, e1: 3, 'e1.2': 4, c0: 7 });
  assert.deepEqual(readAddress(writeAddress(run({ scale: map }))).scale, map);
  assert.deepEqual(readAddress('scale=d1:0').scale, {});
});

test('the edits of each attention have its names and sizes', () => {
  const changed = run({
    scale: { 'e1.2': 0, 'c0.1': 0.5, 0.1: 0 },
    mask: { 'e0.0': '1' },
    painted: { 'c1.1': '0.2' },
    patch: { 'c1.0': 1 },
  });
  const stack = { ...SIZE, tokens: 2 };
  assert.deepEqual(editsOf(changed, { ...stack, part: 'encoder', causal: false, tokens: 3 }), [
    { at: 'encoder.blocks.0.scores', head: [0], window: [1, 1] },
    { at: 'encoder.blocks.1.heads', head: [2], set: 'zero' },
  ]);
  assert.deepEqual(editsOf(changed, stack), [{ at: 'blocks.0.heads', head: [1], set: 'zero' }]);
  const cross = { ...stack, part: 'cross', causal: false, keys: 3 };
  assert.deepEqual(editsOf(changed, cross), [
    { at: 'blocks.0.cross.heads', head: [1], scale: 0.5 },
    {
      at: 'blocks.1.cross.scores',
      head: [1],
      mask: { data: Float32Array.of(1, 1, 0, 1, 1, 1), shape: [2, 3] },
    },
  ]);
  assert.deepEqual(patchedHeads(changed, cross), [[], [0]]);
});

test('a run becomes the edits of forward, with one edit for heads with the same change', () => {
  assert.deepEqual(editsOf(run({}), SIZE), []);
  assert.deepEqual(
    editsOf(
      run({ temperature: { all: 0.5, '1.0': 2 }, mask: { 0: 'none', 1.1: '3' }, scale: { 1.2: 0, 0: 0.5 } }),
      SIZE,
    ),
    [
      { at: 'blocks.0.scores', head: [0, 1, 2], mask: 'none' },
      { at: 'blocks.0.scores', head: [0, 1, 2], temperature: 0.5 },
      { at: 'blocks.0.heads', head: [0, 1, 2], scale: 0.5 },
      { at: 'blocks.1.scores', head: [1], window: [3, 0] },
      { at: 'blocks.1.scores', head: [0], temperature: 2 },
      { at: 'blocks.1.scores', head: [1, 2], temperature: 0.5 },
      { at: 'blocks.1.heads', head: [2], set: 'zero' },
    ],
  );
  assert.deepEqual(patchedHeads(run({ patch: { 1.1: 1, '0.0': 0 } }), SIZE), [[], [1]]);
});

test('a head that is off is replaced by zero or by its mean, which speech and heads without a model lack', () => {
  const off = run({ scale: { 1.2: 0, '0.0': 0.5 }, off: 'mean' });
  assert.deepEqual(editsOf(off, SIZE), [
    { at: 'blocks.0.heads', head: [0], scale: 0.5 },
    { at: 'blocks.1.heads', head: [2], set: 'mean' },
  ]);
  assert.equal(readAddress(writeAddress(off)).off, 'mean');
  assert.equal(readAddress('off=5').off, 'zero');
  assert.equal(change(off, { model: 'opened-1' }).off, 'zero');
  const reads = (kind, about) => replacementOf({ kind, reads: about }, off);
  assert.deepEqual(
    [
      reads('transformer', 'text'),
      reads('transformer', 'picture'),
      reads('transformer', 'sound'),
      reads('layer', 'text'),
    ],
    ['mean', 'mean', 'zero', 'zero'],
  );
  assert.equal(replacementOf({ kind: 'transformer', reads: 'text' }, run({})), 'zero');
});

test('the comparison: this head off, or on, or the unchanged model, or the pinned run', () => {
  const other = (patch) => otherCase(run({ layer: 1, head: 2, ...patch }));
  assert.deepEqual([other({}).kind, other({}).run.scale], ['without', { 1.2: 0 }]);
  assert.deepEqual([other({ scale: { 1.2: 0 } }).kind, other({ scale: { 1.2: 0 } }).run.scale], ['with', {}]);
  const warm = other({ temperature: { all: 2 } });
  assert.deepEqual([warm.kind, warm.run.temperature], ['before', {}]);
  assert.equal(other({ pinned: run({ text: 'so' }), scale: { 1.2: 0 } }).run.text, 'so');
});

test('arrow keys move the temperature from each step of its slider to the next', () => {
  const { span, step } = KNOB;
  // A browser sets a slider to the step that is nearest to the value.
  const at = (temperature) => Math.round((toKnob(temperature) + span) / step);
  const steps = Math.round((2 * span) / step);
  for (let i = 0; i <= steps; i++) assert.equal(at(toTemperature(-span + i * step)), i, `step ${i}`);
  assert.equal(toTemperature(-span + (steps / 2) * step), 1, 'its middle is 1');
  assert.deepEqual([0.1, 1, 1.06, 10].map(temperatureText), ['0.100', '1.00', '1.06', '10.00']);
});

test('the comparison is shown after a change, with a pinned run, or while `off` has the pointer', () => {
  const other = (patch) => otherCase(run(patch));
  assert.equal(isCompared(other({}), false), false);
  assert.equal(isCompared(other({}), true), true);
  assert.equal(isCompared(other({ scale: { 4.2: 0 } }), false), true);
  assert.equal(isCompared(other({ mask: { all: 'none' } }), false), true);
  assert.equal(isCompared(other({ pinned: run({}) }), false), true);
  assert.equal(isCompared(null, true), false);
});
