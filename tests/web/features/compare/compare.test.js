// Tests two runs side by side in Chromium: without a pinned run, with a changed head, and with texts of different
// lengths.

import assert from 'node:assert/strict';
import test from 'node:test';
import { OPENING } from '../../../../web/model/state.ts';
import { FROM, GUESS, LAST, LONGER, NAMES, nameOf, TOKENS } from '../../../support/opening.js';
import {
  assertAccessible,
  assertAccessibleInFullTier,
  assertNoSidewaysScroll,
  download,
  faults,
  openAt,
  page,
  share,
} from '../../../support/page.js';
import { fullTest, inTier } from '../../../support/tier.js';
import { loadWhale } from '../../../support/whale.js';

const PINNED = `pinned=${encodeURIComponent(new URLSearchParams({ text: OPENING }))}`;

const { hl, whale, tokenizer } = await loadWhale();

/** Returns the weights of layer 4, head 2, as a function of query t and key s. */
function weightsOf(text, edit = []) {
  const { ids } = tokenizer.encode(text);
  const T = ids.length;
  const data = hl.scope(() => {
    const input = { ids: { data: Int32Array.from(ids), shape: [1, T] } };
    return whale.forward(input, { edit, capture: ['blocks.4.weights'] }).captured['blocks.4.weights'].copy();
  });
  return { T, at: (t, s) => data[(2 * T + t) * T + s] };
}

async function open(hash, options = {}) {
  await openAt(hash, options);
}
const cells = (row) => page.locator(`.comparing tr[data-name=${row}] td`).allTextContents();
const signed = (d) => (Math.abs(d) < 0.005 ? '0.00' : `${d < 0 ? '−' : '+'}${Math.abs(d).toFixed(2)}`);

fullTest('without a pinned run the view shows instructions; view and pin work by keyboard', async () => {
  await open('');
  await page.locator('.legend .menu button').focus();
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => part('.legend [role=menu]'));
  for (const key of ['ArrowDown', 'ArrowDown', 'ArrowDown']) await page.keyboard.press(key);
  await page.waitForFunction(() => part('.legend').getRootNode().activeElement?.dataset.key === 'beside');
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => part('.nothing-pinned')?.textContent.includes('Pin this run'));
  await assertAccessibleInFullTier();
  await page.locator('.nothing-pinned button').focus();
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => part('.compare')?.querySelectorAll('.matrix canvas').length === 2);
  assert.match(await page.textContent('.comparing .how'), /are the same so far/);
  assert.deepEqual(faults, []);
});

test('with a head switched off, side by side shows both runs, and the difference is now minus pinned', async () => {
  const edit = [{ at: 'blocks.3.heads', head: 1, set: 'zero' }];
  const [now, old] = [weightsOf(OPENING, edit), weightsOf(OPENING)];
  for (const versus of ['beside', 'difference']) {
    await open(`view=compare&versus=${versus}&scale=3.1%3A0&pinned=head%3D2&cell=${LAST}.${FROM}`);
    await page.waitForFunction(() => part('.comparing') !== null);
    const [a, b] = [now.at(LAST, FROM), old.at(LAST, FROM)];
    assert.deepEqual(await cells('weight'), [a.toFixed(2), b.toFixed(2), signed(a - b)]);
  }
  const figures = await page.locator('.figure').allTextContents();
  assert.equal(figures.length, TOKENS);
  const d = now.at(LAST, FROM) - old.at(LAST, FROM);
  assert.ok(Math.abs(Number(figures[FROM].replace('−', '-')) - d) <= 0.00501, `${figures[FROM]}, ${d}`);
  await page.locator('.prediction .tick').first().waitFor();
  assert.match(await page.textContent('.other'), /in the pinned run/);
  const legend = await page.locator('.ramp canvas').evaluate((canvas) => {
    const { width, height } = /** @type {HTMLCanvasElement} */ (canvas);
    const { data } = canvas.getContext('2d').getImageData(0, height >> 1, width, 1);
    return [0, width - 1].map((x) => data.slice(4 * x, 4 * x + 4).join(' '));
  });
  for (const colour of legend) assert.match(colour, / 255$/);
  assert.notEqual(legend[0], legend[1]);
});

test('the difference of two texts has a value for each pair of tokens and a dot for other cells', async () => {
  await open(`view=compare&versus=difference&text=${encodeURIComponent(LONGER)}&${PINNED}&cell=10.3`, {
    locale: inTier('zh-CN', 'en-GB'),
  });
  const d = weightsOf(LONGER).at(10, 3) - weightsOf(OPENING).at(9, 3);
  await page.waitForFunction(
    (wanted) => part('.page').querySelectorAll('.comparing tr[data-name=weight] td')[2]?.textContent === wanted,
    signed(d),
  );
  assert.equal(await page.locator('.row-label.faint').count(), 1);
  assert.equal(await page.locator('.ramp span').count(), 5);
  await assertAccessibleInFullTier();
});

test('texts of different length: rows are aligned, a pointer on either picture reads both', async () => {
  await open(`view=compare&text=${encodeURIComponent(LONGER)}&${PINNED}`);
  await page.waitForFunction(() => part('.comparing') !== null);
  const [now, old] = [weightsOf(LONGER), weightsOf(OPENING)];
  assert.equal(now.T, old.T + 1);
  const boxes = await page.locator('.compare .matrix').evaluateAll((all) =>
    all.map((one) => {
      const { left, top, width, height } = one.getBoundingClientRect();
      return { left, top, width, height };
    }),
  );
  assert.equal(boxes[0].top, boxes[1].top);
  assert.equal(boxes[0].height, boxes[1].height);
  // The query of row 10 of the text is the token of row 9 in the pinned text. Column 3 is the same in both.
  const hover = async ({ left, top, width }, r, c) => {
    const cell = width / now.T;
    await page.mouse.move(left + (c + 0.5) * cell, top + (r + 0.5) * cell);
  };
  const expected = [now.at(10, 3), old.at(9, 3)];
  for (const box of boxes) {
    await hover(box, 10, 3);
    await page.waitForFunction((name) => part('.comparing .query').textContent === name, NAMES[9]);
    assert.deepEqual(
      (await cells('weight')).slice(0, 2),
      expected.map((w) => w.toFixed(2)),
    );
  }
  // A cell whose key is only in the pinned text has a weight only in the pinned run.
  await hover(boxes[1], LAST + 1, FROM);
  await page.waitForFunction((name) => part('.comparing .key').textContent === name, NAMES[FROM]);
  assert.deepEqual(await cells('weight'), ['–', old.at(LAST, FROM).toFixed(2), '']);
  // The list contains the predictions of both runs.
  const guesses = await page.locator('.prediction .token').allTextContents();
  assert.ok(guesses.includes(GUESS) && guesses.includes('white'), `${guesses}`);
  await assertAccessibleInFullTier();
});

test('arrow keys walk either picture, and both weights are announced', async () => {
  await open(`view=compare&text=${encodeURIComponent(LONGER)}&${PINNED}`, { colorScheme: 'dark' });
  await page.waitForFunction(() => part('.compare')?.querySelectorAll('.matrix').length === 2);
  const [now, old] = [weightsOf(LONGER), weightsOf(OPENING)];
  const said = (text) => page.waitForFunction((text) => part('.spoken').textContent === text, text);
  await page.locator('.compare .matrix').first().focus();
  for (const key of ['Home', 'ArrowUp']) await page.keyboard.press(key);
  await said(
    `Attention from ${NAMES[LAST - 1]} (${LAST}) to ${nameOf(0)}: ` +
      `${now.at(LAST, 0).toFixed(2)} now, ${old.at(LAST - 1, 0).toFixed(2)} pinned`,
  );
  await page.locator('.compare .matrix').last().focus();
  for (let i = 0; i < FROM; i++) await page.keyboard.press('ArrowRight');
  await said(
    `Attention from ${nameOf(LAST - 1)} to ${nameOf(FROM)}: not in it now, ${old.at(LAST - 1, FROM).toFixed(2)} pinned`,
  );
  await assertAccessibleInFullTier();
  // The address chooses a cell that is in both runs, instead of the cell that is only in the pinned run.
  await open(`view=compare&text=${encodeURIComponent(LONGER)}&${PINNED}&cell=10.3`, { colorScheme: 'dark' });
  await page.waitForFunction((name) => part('.comparing .query').textContent === name, NAMES[9]);
  assert.deepEqual((await cells('weight')).slice(0, 2), [now.at(10, 3).toFixed(2), old.at(9, 3).toFixed(2)]);
});

fullTest('the SVG file has both pictures with their titles, or the difference with its legend', async () => {
  const save = async (name) => {
    await share();
    return (await download(() => page.getByRole('menuitem', { name }).click())).bytes;
  };
  await open(`${PINNED}&view=compare&scale=4.2%3A0`);
  await page.waitForFunction(() => part('.compare')?.querySelectorAll('.matrix').length === 2);
  const beside = String(await save(/SVG$/));
  assert.match(beside, new RegExp(`>Now: guesses “.*>Pinned: guesses “${GUESS}” \\d\\d%<`, 's'));
  const count = (svg) => svg.match(/<rect /g).length;
  const cells = (TOKENS * (TOKENS + 1)) / 2;
  assert.ok(count(beside) >= 2 * cells, `${count(beside)} rectangles`);
  const png = await save('The picture at 3 times its size');
  const [, width] = /width="(\d+)"/.exec(beside);
  assert.equal(png.readUInt32BE(16), 3 * Number(width));
  await open(`${PINNED}&view=compare&versus=difference&scale=4.2%3A0`);
  await page.waitForFunction(() => part('.compare')?.querySelectorAll('.matrix').length === 1);
  const difference = String(await save(/SVG$/));
  assert.match(difference, /Now minus pinned.*>−1<.*>\+1</s);
  assert.ok(count(difference) < 2 * cells);
  assert.deepEqual(faults, []);
});

fullTest('at 360 px the pictures are one below the other, and nothing scrolls horizontally', async () => {
  const options = { viewport: { width: 360, height: 740 }, hasTouch: true };
  await open(`view=compare&text=${encodeURIComponent(LONGER)}&${PINNED}`, options);
  await page.waitForFunction(() => part('.compare')?.querySelectorAll('.matrix').length === 2);
  await assertNoSidewaysScroll('360 px');
  const [first, second] = await page.locator('.compare .matrix').all();
  const [a, b] = [await first.boundingBox(), await second.boundingBox()];
  assert.equal(a.x, b.x);
  assert.ok(b.y >= a.y + a.height);
  await page.touchscreen.tap(a.x + 3.5 * (a.width / (TOKENS + 1)), a.y + 10.5 * (a.height / (TOKENS + 1)));
  await page.waitForFunction((name) => part('.sheet .query').textContent === name, NAMES[9]);
  await page.locator('.sheet-line').tap();
  await page.waitForFunction(() => part('.sheet .comparing') !== null);
  await assertAccessible();
});

fullTest('at 360 px a note says that no weight differs', async () => {
  for (const [change, count] of [
    ['', 1],
    ['&scale=3.1%3A0', 0],
  ]) {
    await open(`view=compare&versus=difference${change}&${PINNED}`, { viewport: { width: 360, height: 740 } });
    await page.getByText(count ? 'No weight of this head differs.' : 'Now minus pinned').waitFor();
    assert.equal(await page.getByText('No weight of this head differs.').count(), count);
  }
});

test('the view is absent during training and for heads that are not a transformer', async () => {
  await open('view=compare&panel=train');
  await page.waitForFunction(() => part('.picture .matrix') !== null);
  await page.locator('.legend .menu button').click();
  await page.locator('.legend [data-key=lines]').waitFor();
  assert.equal(await page.locator('.legend [data-key=beside]').count(), 0);
  assert.deepEqual(faults, []);
});
