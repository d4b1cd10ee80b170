// Every number shown is the one that the core computes.

import assert from 'node:assert/strict';
import test from 'node:test';
import { EXAMPLES } from '../../../web/model/examples.js';
import { change, initialState } from '../../../web/model/state.js';
import { faults, open, page, settle, shownWeight, textOf, tokensRead, walk } from '../../support/page.js';
import { assertSame, expectedWeights } from '../../support/weights.js';

test("the number hovered is the core's, under the pointer", async () => {
  await open();
  await page.click('#grid button:nth-child(5)');
  await settle();
  const weight = expectedWeights({ head: 4 });
  const box = await page.locator('#large').boundingBox();
  const seen = new Set();
  for (let y = 0.95; y > 0.2; y -= 0.06) {
    await page.mouse.move(box.x + box.width * (1 - y * 0.5), box.y + box.height * y);
    await settle();
    const [query, key] = await tokensRead();
    const value = await shownWeight();
    const tokens = EXAMPLES.sentence.problem(initialState).queries;
    assertSame(value, weight(0, 4, tokens.indexOf(query), tokens.indexOf(key)), `${query} → ${key}`);
    seen.add(`${query} ${key}`);
  }
  assert.ok(seen.size > 5);
});

for (const [name, patch, act] of [
  ['temperature', { temperature: 10 ** 0.5 }, () => page.locator('#temperature').fill('0.5')],
  ['a causal mask', { mask: 'causal' }, () => page.selectOption('#mask', 'causal')],
  [
    'fewer heads',
    { heads: 3, head: 1 },
    async () => {
      await page.selectOption('#heads', '3');
      await page.click('#grid button:nth-child(2)');
    },
  ],
  [
    'random cross-attention',
    { example: 'cross', seed: 7, batch: 1, head: 2 },
    async () => {
      await page.selectOption('#example', 'cross');
      await settle();
      await page.fill('#seed', '7');
      await page.selectOption('#batch', '1');
      await page.click('#grid button:nth-child(3)');
    },
  ],
  [
    'valid lengths',
    { example: 'lengths', batch: 1 },
    async () => {
      await page.selectOption('#example', 'lengths');
      await settle();
      await page.selectOption('#batch', '1');
    },
  ],
]) {
  test(`${name}: every cell walked to shows the core's number`, async () => {
    await open();
    await act();
    await settle();
    const state = change(initialState, patch);
    const weight = expectedWeights(patch);
    for (const [t, s] of [
      [0, 0],
      [1, 3],
      [3, 1],
      [2, 2],
    ]) {
      await walk(t, s);
      assertSame(await shownWeight(), weight(state.batch, state.head, t, s), `query ${t}, key ${s}`);
    }
    assert.deepEqual(faults, []);
  });
}

test('ten equal keys weigh a tenth each; padding beyond two keys leaves a half', async () => {
  await open();
  await page.selectOption('#example', 'equal');
  await settle();
  await walk(0, 4);
  assert.ok(Math.abs((await shownWeight()) - 0.1) < 1e-7);
  await page.selectOption('#mask', 'padding');
  await page.locator('#keys').fill('2');
  await settle();
  await walk(0, 1);
  assert.equal(await shownWeight(), 0.5);
  await walk(0, 2);
  assert.equal(await shownWeight(), 0);
  assert.match(await textOf('#reading'), /hidden by the mask/);
});

test("scale, soft cap and window: every cell walked to shows the core's number", async () => {
  await open();
  await page.selectOption('#example', 'cross');
  await page.click('#more summary');
  await page.uncheck('#scaled');
  await page.locator('#softcap').fill('2');
  await page.selectOption('#mask', 'window');
  await page.locator('#window').fill('3');
  await settle();
  const weight = expectedWeights({ example: 'cross', scaled: false, softcap: 2, mask: 'window', window: 3 });
  for (const [t, s] of [
    [0, 0],
    [4, 6],
    [9, 12],
    [3, 9],
  ]) {
    await walk(t, s);
    assertSame(await shownWeight(), weight(0, 0, t, s), `query ${t}, key ${s}`);
  }
});
