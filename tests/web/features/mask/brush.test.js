// Tests painting a mask in Chromium, by pointer, by keyboard and by touch.

import assert from 'node:assert/strict';
import test from 'node:test';
import { OPENING } from '../../../../web/model/state.ts';
import { FROM, LAST, NAMES, TOKENS } from '../../../support/opening.js';
import { assertAccessible, faults, openPage, page, settle } from '../../../support/page.js';
import { fullTest, inTier } from '../../../support/tier.js';
import { loadWhale } from '../../../support/whale.js';

const { hl, whale, tokenizer } = await loadWhale();

async function takeBrush() {
  await page.locator('.changes > button').click();
  await page.locator('.settings .menu button').first().click();
  await page.locator('[data-key=brush]').click();
  await page.waitForFunction(() => part('canvas.brush') && part('.brushing'));
}
/** Returns the centre of a cell of the heatmap in the page. */
async function at(t, s) {
  const box = await page.locator('.matrix').boundingBox();
  return [box.x + ((s + 0.5) * box.width) / TOKENS, box.y + ((t + 0.5) * box.height) / TOKENS];
}
const text = (selector) => page.locator(selector).first().textContent();
const hidden = (pattern) => page.waitForFunction((source) => new RegExp(source).test(location.hash), pattern.source);
const nothing = () => page.waitForFunction(() => !location.hash.includes('painted'));

/** Returns the probability of the most probable next token if cells are masked in heads, by default in all. */
function best(cells, heads) {
  const { ids } = tokenizer.encode(OPENING);
  const T = ids.length;
  const mask = Float32Array.from({ length: T * T }, (_, i) => Number(i % T <= Math.floor(i / T)));
  for (const [t, s] of cells) mask[t * T + s] = 0;
  return hl.scope(() => {
    const input = { ids: { data: Int32Array.from(ids), shape: [1, T] } };
    const edit = heads.map(([at, head]) => ({ at, head, mask: { data: mask, shape: [T, T] } }));
    const { logits } = whale.forward(input, { edit });
    const row = Array.from(logits.data).slice(-logits.shape[2]);
    const most = row.reduce((a, x) => Math.max(a, x), -Infinity);
    return Math.round(100 / row.reduce((a, x) => a + Math.exp(x - most), 0));
  });
}

fullTest('a fast stroke has no gaps, is one step of undo, and has the result of the same mask', async () => {
  await openPage();
  await takeBrush();
  await page.mouse.move(...(await at(LAST, 0)));
  await page.mouse.down();
  // The pointer moves in one step, so there is only an event at the end of the movement.
  await page.mouse.move(...(await at(LAST, 8)));
  await page.mouse.up();
  await hidden(new RegExp(`painted=all%3A${LAST}\\.0-8$`));
  await settle();
  const cells = Array.from({ length: 9 }, (_, s) => [LAST, s]);
  const expected = best(cells, [['blocks.*.scores', [0, 1, 2, 3]]]);
  await page.waitForFunction((now) => part('.prediction .option b').textContent === now, `${expected}%`);
  assert.match(await text('.other'), /before the change/);
  await page.mouse.move(...(await at(LAST, FROM)));
  await page.waitForFunction(() => part('.title').textContent.includes('cannot look at'));
  assert.equal(await text('.reading .how'), 'It is hidden.');
  await page.keyboard.press('Control+z');
  await nothing();
  await page.keyboard.press('Control+Shift+z');
  await hidden(/painted/);
  await page.getByRole('button', { name: 'Clear' }).click();
  await nothing();
  await page.getByRole('button', { name: 'Done' }).click();
  await page.waitForFunction(() => part('canvas.brush') === null && part('.slider') !== null);
  assert.deepEqual(faults, []);
});

test('a mask of one head; cells are shown again; a row without keys has a text instead of NaN', async () => {
  await openPage({}, '#scope=head');
  await takeBrush();
  await page.mouse.move(...(await at(3, 0)));
  await page.mouse.down();
  await page.mouse.move(...(await at(3, 3)));
  await page.mouse.up();
  await hidden(/painted=4\.2%3A3\.0-3/);
  await settle();
  await page.mouse.move(...(await at(3, 1)));
  await page.waitForFunction(() => part('.reading .how')?.textContent.startsWith('All keys are hidden'));
  assert.equal(await page.locator('.figure').count(), 0);
  assert.doesNotMatch(await text('.page'), /NaN%|undefined/);
  await page.getByRole('button', { name: 'show', exact: true }).click();
  await page.mouse.move(...(await at(3, 1)));
  await page.mouse.down();
  await page.mouse.up();
  await hidden(/painted=4\.2%3A3\.0\.2-3/);
});

test('by keyboard space hides and shows the cell, and Escape ends the brush', async () => {
  await openPage();
  await takeBrush();
  await page.waitForFunction(() => part('.page').getRootNode().activeElement?.id === 'picture');
  for (const key of ['ArrowUp', 'Home', 'ArrowRight', 'Space']) await page.keyboard.press(key);
  await hidden(new RegExp(`painted=all%3A${LAST - 1}\\.1$`));
  assert.equal(await text('.spoken'), `${NAMES[LAST - 1]} no longer sees ${NAMES[1]}`);
  const title = (words) =>
    page.waitForFunction((words) => part('.reading .title')?.textContent.includes(words), ` ${words} ${NAMES[1]}`);
  await title('cannot look at');
  await page.keyboard.press('Space');
  await nothing();
  assert.equal(await text('.spoken'), `${NAMES[LAST - 1]} sees ${NAMES[1]} again`);
  await title('looks at');
  await page.keyboard.press('Escape');
  await page.waitForFunction(() => part('canvas.brush') === null);
  await page.keyboard.press('Space');
  assert.equal(await page.evaluate(() => location.hash.includes('painted')), false);
});

test('a painted mask remains when text is added, and a note says if it is too long for a link', async () => {
  await openPage({}, `#painted=all%3A${LAST}.0-8`);
  const field = page.getByRole('textbox', { name: 'The text. Write here' });
  await field.fill(`${OPENING} ${NAMES[FROM]}`);
  await settle();
  await hidden(new RegExp(`painted=all%3A${LAST}\\.0-8`));
  const rows = Array.from({ length: 400 }, (_, t) => `${t + 1}.1`).join('_');
  await takeBrush();
  assert.match(await text('.brush-note'), /^Paint in the picture/);
  await page.evaluate((text) => (location.hash = `painted=all:${text}`), rows);
  await page.waitForFunction(() => part('.brush-note')?.textContent.startsWith('Too much is painted'));
});

for (const [locale, colorScheme] of inTier(
  [
    ['en-GB', 'light'],
    ['zh-CN', 'dark'],
  ],
  [['en-GB', 'dark']],
))
  fullTest(`axe has no findings while the brush is on: ${locale}, ${colorScheme}`, async () => {
    await openPage({ locale, colorScheme }, `#painted=all%3A${LAST}.0-8`);
    await takeBrush();
    await assertAccessible();
  });

fullTest('touch paints only while the brush is on', async () => {
  await openPage({ viewport: { width: 360, height: 740 }, hasTouch: true });
  await page.touchscreen.tap(...(await at(9, 4)));
  await page.waitForFunction((name) => part('.sheet .key')?.textContent === name, NAMES[4]);
  assert.equal(await page.evaluate(() => location.hash.includes('painted')), false);
  await takeBrush();
  await page.touchscreen.tap(...(await at(9, 4)));
  await hidden(/painted=all%3A9\.4$/);
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth), 0);
});
