// Tests sums of rows and columns, and words instead of tokens, in Chromium.

import assert from 'node:assert/strict';
import test from 'node:test';
import { OPENING } from '../../../../web/model/state.ts';
import { wordsOf } from '../../../../web/worker/run/joinWords.ts';
import { NAMES } from '../../../support/opening.js';
import {
  assertAccessible,
  assertAccessibleInFullTier,
  chooseKind,
  faults,
  openAt,
  openPage,
  page,
  settle,
} from '../../../support/page.js';
import { fullTest } from '../../../support/tier.js';
import { loadWhale } from '../../../support/whale.js';

const { hl, whale, tokenizer } = await loadWhale();
/** Returns a copy of the weights (T,T) of head 4.2. */
function weightsOf(text) {
  const ids = [...tokenizer.encode(text).ids];
  return hl.scope(() => {
    const { captured } = whale.forward({ ids: [ids] }, { capture: ['blocks.4.weights'] });
    const T = ids.length;
    return { T, weights: captured['blocks.4.weights'].copy().slice(2 * T * T, 3 * T * T) };
  });
}
const { T, weights } = weightsOf(OPENING);
/** Returns the largest sum: of the weights of a query on some keys, or of the weights of some queries on a key. */
const most = (axis, places) =>
  Math.max(
    ...Array.from({ length: T }, (_, i) =>
      places.reduce((sum, place) => sum + weights[axis === 'rows' ? place * T + i : i * T + place], 0),
    ),
  ).toFixed(2);
const label = (t) => page.locator('.labels .key-label').nth(t);
const middleOf = async (t) => {
  const { x, y, width, height } = await label(t).boundingBox();
  return [x + width / 2, y + height / 2];
};
const shows = (axis, places) =>
  page.waitForFunction(
    ([sum, weight]) => location.hash.includes(`sum=${sum}`) && part('.sum li b')?.textContent === weight,
    [[axis, ...places].join('.'), most(axis, places)],
  );

test('by mouse: a drag over labels adds columns, Control adds one, and they can be rows', async () => {
  await openPage();
  await page.mouse.move(...(await middleOf(3)));
  await page.mouse.down();
  // The first press loads the code of sums, so the pointer moves until the page responds.
  for (let i = 0; i < 200 && (await page.locator('.sum-frame').count()) === 0; i++)
    for (const t of [4, 5]) await page.mouse.move(...(await middleOf(t)), { steps: 3 });
  await shows('columns', [3, 4, 5]);
  await page.mouse.up();
  assert.match(await page.textContent('.sum .title'), new RegExp(`${NAMES[4]}.*\\+.*${NAMES[5]}.*, summed`));
  assert.equal(await page.locator('.sum-frame').count(), 1);
  await page.mouse.move(5, 895);
  await label(9).click({ modifiers: ['Control'] });
  await shows('columns', [3, 4, 5, 9]);
  assert.equal(await page.locator('.sum-frame').count(), 2);
  await assertAccessibleInFullTier();
  await page.getByRole('button', { name: 'as queries' }).click();
  await shows('rows', [3, 4, 5, 9]);
  await page.keyboard.press('Escape');
  await page.waitForFunction(() => !part('.sum-frame') && !location.hash.includes('sum'));
  assert.deepEqual(faults, []);
});

fullTest('by keyboard: Shift and an arrow add rows or columns, which are spoken', async () => {
  await openPage({}, 'cell=13.4');
  await page.locator('#picture').focus();
  await page.keyboard.press('Shift+ArrowUp');
  await shows('rows', [12, 13]);
  await page.waitForFunction(() => /^the \+ first, summed\. Most: \w+, \d\.\d\d\.$/.test(part('.spoken').textContent));
  await page.keyboard.press('Shift+ArrowUp');
  await shows('rows', [11, 12, 13]);
  await page.keyboard.press('Shift+ArrowLeft');
  await shows('columns', [3, 4]);
  await page.keyboard.press('Escape');
  await page.waitForFunction(() => !part('.sum'));
  assert.deepEqual(faults, []);
});

fullTest('a sum by its address, in Chinese, dark, on a phone', async () => {
  await openAt('sum=columns.3.4', {
    viewport: { width: 360, height: 740 },
    hasTouch: true,
    locale: 'zh-CN',
    colorScheme: 'dark',
  });
  await page.locator('.sheet-line').tap();
  await shows('columns', [3, 4]);
  await assertAccessible();
  await page.locator('.sheet-line').tap();
  // Dragging a finger over labels adds the weights of these tokens.
  const client = await page.context().newCDPSession(page);
  const touch = async (type, t) => {
    const [x, y] = t === undefined ? [] : await middleOf(t);
    await client.send('Input.dispatchTouchEvent', { type, touchPoints: t === undefined ? [] : [{ x, y }] });
  };
  await touch('touchStart', 6);
  for (const t of [7, 8, 8, 8]) await touch('touchMove', t);
  await page.waitForFunction(() => location.hash.includes('sum=columns.6.7.8'));
  await touch('touchEnd');
  assert.deepEqual(faults, []);
});

test('tokens become words: weights are those of the module, joined', async () => {
  const text = 'Call me Ishmael. Some years ago, call me Ishmael. Some';
  await openPage({}, `text=${encodeURIComponent(text)}`);
  const tokens = await page.locator('.labels .row-label').allTextContents();
  await chooseKind('words');
  await page.waitForFunction((n) => part('.labels').querySelectorAll('.row-label').length < n, tokens.length);
  await settle();
  const whole = weightsOf(text);
  const names = await page.locator('.labels .row-label').allTextContents();
  assert.ok(names.includes('Ishmael') && names.includes('Some') && !tokens.includes('Ishmael'));
  const { offsets } = tokenizer.encode(text);
  const pieces = offsets.map(([from, to]) => ({
    space: /^\s*/.exec(text.slice(from, to))[0],
    text: text.slice(from, to).trim(),
  }));
  const [from] = wordsOf(pieces).at(-1);
  // The word is read to which the last word attends most.
  const sums = wordsOf(pieces).map(([start, end]) => {
    let sum = 0;
    for (let t = from; t < whole.T; t++) for (let s = start; s < end; s++) sum += whole.weights[t * whole.T + s];
    return sum;
  });
  const sum = Math.max(...sums);
  await page.waitForFunction(
    (weight) => part('.reading [data-name=weight]')?.textContent === weight,
    (sum / (whole.T - from)).toFixed(2),
  );
  assert.match(await page.textContent('.reading .how'), /^Words: weights of the tokens of a key are added/);
  await page.waitForFunction(() => location.hash.includes('units=words'));
  await assertAccessibleInFullTier();
  // Flow shows tokens again.
  await page.locator('.legend .views button', { hasText: 'Flow' }).click();
  await page.waitForFunction((n) => part('.sentence').querySelectorAll('.piece').length === n, tokens.length);
  assert.deepEqual(faults, []);
});
