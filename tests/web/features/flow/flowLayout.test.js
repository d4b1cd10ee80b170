// Tests the layout of Flow, and compares the numbers with those of the module.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { load } from 'headlight-attention';
import { attribution, composition } from 'headlight-attention/analysis';
import { uniformSource } from '../../../../src/js/ops/random.ts';
import { openTokenizer } from '../../../../src/js/text/tokenizer.ts';
import { CORNER } from '../../../../web/drawing/flowLines.ts';
import { allParts, partsAdding } from '../../../../web/features/flow/contributions.ts';
import { flowOf } from '../../../../web/features/flow/flowLayout.ts';
import { headsShown } from '../../../../web/features/flow/flowParts.ts';
import { attendedBy, feetOf } from '../../../../web/features/flow/flowTokens.ts';
import { initialState } from '../../../../web/model/state.ts';
import { createAnswerer } from '../../../../web/worker/requests.ts';
import { openDemoModel } from '../../../../web/worker/sources/demoModel.ts';
import { assertSame } from '../../../support/same.js';
import { inTier } from '../../../support/tier.js';

const file = (name) => readFileSync(new URL(`../../../../web/demo/${name}`, import.meta.url));

/** Returns the input of a layout with random contributions of the heads and feed-forwards, some of them large. */
function problem({ layers, heads, seed, width = 1048, height = 660, mlps = true, hide = 0.12 }) {
  const next = uniformSource(seed);
  const value = () => (next() - 0.45) * (next() < 0.15 ? 6 : 0.8);
  const added = {
    embed: value(),
    heads: Float32Array.from({ length: layers * heads }, value),
    mlps: Float32Array.from({ length: layers }, () => (mlps ? value() : 0)),
    bias: value(),
    sum: 0,
  };
  const chosen = { layer: Math.floor(next() * layers), head: Math.floor(next() * heads) };
  const compositions = [];
  for (let layer = 0; layer < layers; layer++)
    for (let head = 0; head < heads; head++)
      for (const kind of ['q', 'k', 'v']) {
        const other = { layer, head };
        const [from, to] = layer < chosen.layer ? [other, chosen] : [chosen, other];
        if (layer !== chosen.layer) compositions.push({ from, to, kind, value: next() * 0.4 });
      }
  const input = {
    width,
    height,
    top: 54,
    side: 76,
    pill: 84,
    feet: 48,
    layers,
    heads,
    tokens: 17,
    mlps,
    added,
    hide,
    chosen,
  };
  return { ...input, compositions };
}
const SIZES = [
  { layers: 5, heads: 4 },
  { layers: 5, heads: 4, width: 328, height: 420 },
  { layers: 4, heads: 6, width: 716, height: 600 },
  { layers: 12, heads: 12 },
  { layers: 12, heads: 12, width: 328, height: 420 },
  { layers: 2, heads: 8, mlps: false },
  { layers: 32, heads: 32 },
  { layers: 32, heads: 32, width: 1760, height: 900 },
  { layers: 1, heads: 1 },
];
const SEEDS = inTier([1, 2, 3, 4, 5, 6, 7, 8], [1]);
const all = SIZES.flatMap((size) => SEEDS.map((seed) => problem({ ...size, seed })));
const nameOf = ({ layers, heads, width }) => `${layers} × ${heads} at ${width}`;

/** Returns true if two boxes share more than an edge. */
const meet = (a, b, slack = 0.01) =>
  a.x + slack < b.x + b.width &&
  b.x + slack < a.x + a.width &&
  a.y + slack < b.y + b.height &&
  b.y + slack < a.y + a.height;

test('ribbons do not cross each other', () => {
  for (const input of all) {
    const { ribbons } = flowOf(input);
    for (const [i, a] of ribbons.entries())
      for (const b of ribbons.slice(i + 1))
        for (const one of a.boxes)
          for (const two of b.boxes)
            if (meet(one, two))
              assert.fail(`${nameOf(input)}: ${JSON.stringify([a.kind, a.layer, one, b.kind, b.layer, two])}`);
  }
});

test('neither ribbons nor lines cross a thumbnail', () => {
  for (const input of all) {
    const { ribbons, lines, parts } = flowOf(input);
    const boxes = parts.filter(({ kind }) => kind !== 'embed');
    for (const [i, a] of boxes.entries()) for (const b of boxes.slice(i + 1)) assert.ok(!meet(a, b), nameOf(input));
    for (const { boxes: along, ...path } of [...ribbons, ...lines])
      for (const box of along)
        for (const part of boxes) {
          const slack = 'kind' in path && 'from' in path ? path.width : 0.01;
          if (meet(box, part, slack))
            assert.fail(`${nameOf(input)}: ${JSON.stringify([path.kind, path.layer, box, part])}`);
        }
  }
});

test('places, ribbons and lines of some models', () => {
  const found = SIZES.filter(({ layers }) => layers < 32).map((size) => {
    const { ribbons, lines, parts, scale, thin, apart, target, size: side } = flowOf(problem({ ...size, seed: 1 }));
    const ways = ribbons.map(({ d, kind, layer, width }) => [kind, layer, width, d.split('L').length, d.slice(0, 60)]);
    const shown = lines.slice(0, 12).map(({ d, width }) => [d, width]);
    return [
      nameOf({ width: 1048, ...size }),
      { ways, shown, parts: parts.slice(0, 24), scale, thin, apart, target, side },
    ];
  });
  assertSame('flow', Object.fromEntries(found));
});

/**
 * Checks that the outline of a ribbon is within the boxes along the path, except for rounded inner corners, and that it
 * has the width of the ribbon at both ends.
 */
function assertOutline({ d, boxes, width, foot }, name) {
  const points = d
    .slice(1, -1)
    .split('L')
    .map((point) => point.split(' ').map(Number));
  const slack = 0.3 * CORNER + 0.1;
  for (const [x, y] of points)
    if (!boxes.some((box) => meet(box, { x, y, width: 0, height: 0 }, -slack))) assert.fail(`${name}: ${x} ${y}`);
  const half = points.length / 2;
  for (const [left, right] of [
    [points[0], points.at(-1)],
    [points[half - 1], points[half]],
  ])
    assert.ok(Math.abs(right[0] - left[0] - width) < 0.11 && left[1] === right[1], name);
  assert.ok(Math.abs((points[half - 1][0] + points[half][0]) / 2 - foot) < 0.11, name);
}

test('the width of a ribbon is its contribution, it follows its path, and upper ends are next to each other', () => {
  for (const input of all) {
    const { ribbons, scale, thin, apart, target, parts } = flowOf(input);
    const flowing = parts.filter(({ shown, value }) => shown && value > 0);
    assert.equal(ribbons.length, flowing.length);
    for (const ribbon of ribbons) assertOutline(ribbon, nameOf(input));
    for (const { value, width } of ribbons) assert.ok(Math.abs(width - Math.max(value * scale, thin)) < 1e-9);
    const wide = ribbons.reduce((sum, { width }) => sum + width, 0);
    assert.ok(wide <= 0.1 * input.width + thin * ribbons.length, nameOf(input));
    assert.ok(Math.abs(target.width - (wide + apart * Math.max(ribbons.length - 1, 0))) < 1e-6, nameOf(input));
    const feet = [...ribbons].sort((a, b) => a.foot - b.foot);
    for (let i = 1; i < feet.length; i++)
      assert.ok(Math.abs(feet[i].foot - feet[i - 1].foot - (feet[i].width + feet[i - 1].width) / 2 - apart) < 1e-6);
  }
});

test('everything is inside the drawing', () => {
  for (const input of all) {
    const { ribbons, lines, parts } = flowOf(input);
    for (const box of [...ribbons, ...lines].flatMap(({ boxes }) => boxes).concat(parts)) {
      const across = box.x >= -1 && box.x + box.width <= input.width + 1;
      const down = box.y >= 53 && box.y + box.height <= input.height + 1;
      if (!across || !down) assert.fail(`${nameOf(input)} ${JSON.stringify(box)}`);
    }
  }
});

test('with many heads, those below the threshold are one part of their layer, and the sum is the same', () => {
  for (const input of all.filter(({ heads, width }) => heads > 12 || width < 400)) {
    const { parts } = flowOf(input);
    for (let layer = 0; layer < input.layers; layer++) {
      const mine = parts.filter((part) => part.layer === layer);
      const heads = mine.flatMap((part) => (part.kind === 'head' ? [part.head] : part.heads));
      assert.deepEqual(
        heads.sort((a, b) => a - b),
        [...Array(input.heads).keys()],
      );
      const sum = mine.filter(({ kind }) => kind !== 'mlp').reduce((total, { value }) => total + value, 0);
      const row = input.added.heads.subarray(layer * input.heads, (layer + 1) * input.heads);
      assert.ok(Math.abs(sum - row.reduce((total, x) => total + x, 0)) < 1e-5);
    }
    const { layer, head } = input.chosen;
    assert.ok(parts.some((part) => part.kind === 'head' && part.layer === layer && part.head === head));
  }
  const heads = [0.5, 0.01, -0.3, 0.2, 0, 0.9];
  const chosen = { layer: 0, head: 4 };
  assert.deepEqual(headsShown({ heads, layer: 0, count: 6, slots: 4, hide: 0.1, chosen }), {
    shown: [0, 4, 5],
    rest: [1, 2, 3],
  });
});

test('tokens are next to each other; of many, those with the largest weights are drawn', () => {
  const input = problem({ layers: 5, heads: 4, seed: 3 });
  const flow = { ...flowOf(input), ...input, run: { S: 200 } };
  const row = Float32Array.from({ length: 200 }, (_, s) => (s === 77 ? 0.9 : 0.0005));
  const feet = feetOf(flow, row);
  assert.ok(feet.length < 30);
  assert.deepEqual(
    [0, 77, 199].map((s) => feet.some((foot) => foot.s === s)),
    [true, true, true],
  );
  for (let i = 1; i < feet.length; i++) assert.ok(feet[i].x - feet[i - 1].x >= 40);
  // All labels are drawn if they fit when they are slanted, as on a phone and in a narrow window.
  for (const width of [328, 700])
    assert.equal(feetOf({ ...flow, side: width < 400 ? 30 : 76, width, run: { S: 17 } }, row).length, 17);
  assert.deepEqual(
    attendedBy(flow, input.chosen, row, 48).map(({ s }) => s),
    [77],
  );
});

test('contributions sum to the logit, and small ones are listed as one sum', () => {
  const { added, layers, heads } = problem({ layers: 5, heads: 4, seed: 5 });
  const size = { layers, heads, mlps: true };
  const sum = allParts(added, size).reduce((total, { value }) => total + value, 0);
  const { positive, negative, others } = partsAdding(added, size, { hide: 0.12, count: 6 });
  const listed = [...positive, ...negative];
  assert.equal(listed.length, 6);
  assert.ok(Math.abs(listed.reduce((total, { value }) => total + value, 0) + others.value - sum) < 1e-9);
  for (const { value } of positive) assert.ok(value >= 0.12);
  for (const { value } of negative) assert.ok(value <= -0.12);
});

test('for the demo model, the worker returns the results of attribution, composition and forward', async () => {
  const hl = await load();
  const model = openDemoModel(hl, file('whale.safetensors'));
  const tokenizer = openTokenizer(file('tokenizer.json'));
  const answers = {};
  const answer = createAnswerer({
    load: async () => hl,
    fetchBeside: async (name) => file(name.replace('whale.tokenizer', 'tokenizer')),
    post: (message) => (answers[message.part ?? 'end'] = message),
  });
  await answer({ id: 1, verb: 'show', state: initialState });
  const { added, chosen, lens, early, top } = answers.run;
  const ids = tokenizer.encode(initialState.text).ids;
  const capture = ['embed', 'blocks.*.heads', 'blocks.*.mlp', 'blocks.*.out'];
  const result = model.forward({ ids: { data: Int32Array.from(ids), shape: [1, ids.length] } }, { capture });
  const expected = attribution(model, result, { label: chosen.id });
  // The worker also captures weights and scores, so it adds in another order. The last bit of a number near 10 is
  // 9.5e-7.
  for (const name of ['embed', 'bias', 'sum']) assert.ok(Math.abs(added[name] - expected[name]) < 4e-6, name);
  for (const name of ['heads', 'mlps'])
    expected[name].data.forEach((value, i) => assert.ok(Math.abs(added[name][i] - value) < 4e-6, `${name} ${i}`));
  const logits = result.logits.copy();
  const row = logits.subarray((ids.length - 1) * result.logits.shape[2]);
  const parts = allParts(added, { layers: 5, heads: 4, mlps: true }).reduce((sum, { value }) => sum + value, 0);
  assert.ok(Math.abs(parts - row[chosen.id]) < 1e-4, `${parts} for ${row[chosen.id]}`);
  assert.equal(early.length, 6);
  assert.equal(early.at(-1).id, top[0].id);
  assert.ok(Math.abs(lens.at(-1) - top[0].now) < 1e-5);

  await answer({ id: 2, verb: 'composition', state: { ...initialState, layer: 3, head: 3 } });
  const { compositions } = answers.composition;
  assert.equal(compositions.length, 3 * 16);
  for (const { from, to, kind, value } of compositions.slice(0, 6))
    assert.equal(value, composition(model, from, to)[kind]);
  const key = compositions.find(({ to, kind }) => to.layer === 4 && to.head === 2 && kind === 'k').value;
  assert.ok(
    key === Math.max(...compositions.map(({ value }) => value)),
    'the key of the induction head has its strongest composition with the head before it',
  );

  await answer({ id: 3, verb: 'ablate', state: initialState });
  const { switchedOff, before, total } = answers.ablation;
  assert.equal(switchedOff.length, total);
  assert.ok(Math.abs(before - top[0].now) < 1e-9);
  const lost = switchedOff.find(({ layer, head }) => layer === 4 && head === 2);
  const edit = [{ at: 'blocks.4.heads', head: 2, set: 'zero' }];
  const { logits: off } = model.forward({ ids: { data: Int32Array.from(ids), shape: [1, ids.length] } }, { edit });
  const without = off.copy().subarray((ids.length - 1) * off.shape[2]);
  const most = Math.max(...without);
  const whole = without.reduce((sum, x) => sum + Math.exp(x - most), 0);
  assert.ok(Math.abs(lost.value - Math.exp(without[chosen.id] - most) / whole) < 1e-6);
  hl.dispose();
});
