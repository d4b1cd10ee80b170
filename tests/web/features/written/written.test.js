// Tests words that the model generates, in Chromium: the rows below a dashed line, their numbers, and their playback.

import assert from 'node:assert/strict';
import test from 'node:test';
import { logProbability } from 'headlight-attention/analysis';
import { percentText } from '../../../../web/model/numbers.ts';
import {
  assertAccessible,
  assertAccessibleInFullTier,
  assertNoSidewaysScroll,
  download,
  faults,
  openAt,
  openPage,
  page,
  settle,
} from '../../../support/page.js';
import { fullTest } from '../../../support/tier.js';
import { loadWhale } from '../../../support/whale.js';

const { hl, whale, tokenizer } = await loadWhale();
const BEGIN = 'They gave the ship to me. They gave the';
const FROM = tokenizer.encode(BEGIN).ids.length;

/** Returns the probability of each token of a text, and the weights (T,T) of head 4.2. */
function runOf(text) {
  const ids = [...tokenizer.encode(text).ids];
  return hl.scope(() => {
    const { logits, captured } = whale.forward({ ids: [ids] }, { capture: ['blocks.4.weights'] });
    const all = { logits: { data: logits.copy(), shape: [...logits.shape] } };
    const T = ids.length;
    const weights = captured['blocks.4.weights'].copy().subarray(2 * T * T, 3 * T * T);
    const strongest = (t) => {
      const row = weights.subarray(t * T, t * T + T);
      return row.indexOf(row.reduce((a, b) => Math.max(a, b)));
    };
    return {
      T,
      names: ids.map((id) => tokenizer.decode([id]).trim()),
      chances: ids.map((id, t) => (t > 0 ? Math.exp(logProbability(id, t - 1)(all)) : 1)),
      looked: ids.map((_, t) => (t > 0 ? strongest(t - 1) : 0)),
    };
  });
}
const textNow = () => page.evaluate(() => part('.sentence textarea').value);
const hashOf = (text) => `written=${BEGIN.length}&text=${encodeURIComponent(text)}`;
const WRITTEN = `${BEGIN} ship to me. They`;
/** Returns the words in the table of the reading column, as soon as all are measured. */
const listed = async () => {
  await page.waitForFunction(() => {
    const cells = [...(part('.written-words tbody')?.querySelectorAll('td:nth-child(2)') ?? [])];
    return cells.length > 0 && cells.every(({ textContent }) => textContent !== '…');
  });
  return page
    .locator('.written-words tbody tr')
    .evaluateAll((rows) => rows.map((row) => [...row.children].slice(0, 3).map(({ textContent }) => textContent)));
};
/** Waits until the address contains the position at which the generated text begins. */
const written = () => page.waitForFunction((n) => location.hash.includes(`written=${n}`), BEGIN.length);
const shownRows = (text) =>
  page.waitForFunction((text) => part('.written-control .slider b')?.textContent === text, text);

test('write on adds rows below a dashed line; the numbers are those of the run', async () => {
  await openPage({}, `text=${encodeURIComponent(BEGIN)}`);
  assert.equal(await page.locator('.written-line').count(), 0);
  await page.getByRole('button', { name: 'write on' }).click();
  await page.waitForFunction((text) => part('.sentence textarea').value.length > text.length + 20, BEGIN);
  // While the model generates, the button is a pause button.
  await page.getByRole('button', { name: 'Write on', exact: true }).waitFor();
  await settle();
  await written();
  const { T, names, chances, looked } = runOf(await textNow());
  await page.waitForFunction((n) => part('.labels').querySelectorAll('.row-label').length === n, T);
  const rows = await listed();
  assert.equal(rows.length, T - FROM);
  rows.forEach(([wrote, chance, key], i) => {
    const t = FROM + i;
    assert.deepEqual([wrote, chance], [names[t], percentText(chances[t])]);
    assert.equal(key.replace(/\d+$/, ''), names[looked[t]]);
  });
  const italics = await page
    .locator('.labels .row-label')
    .evaluateAll((all) => all.map((one) => getComputedStyle(one).fontStyle));
  assert.deepEqual(italics, [...Array(FROM).fill('normal'), ...Array(T - FROM).fill('italic')]);
  const [line, matrix] = await Promise.all(
    ['.written-line', '.matrix'].map((name) => page.locator(name).boundingBox()),
  );
  assert.ok(Math.abs(line.y - matrix.y - (FROM * matrix.height) / T) <= 1.5);
  await assertAccessibleInFullTier();
  assert.deepEqual(faults, []);
});

test('by mouse: a row is played back, a word shows its cell, a chosen cell is explained', async () => {
  await openAt(hashOf(WRITTEN));
  await listed();
  await page.getByRole('button', { name: 'Play back from the beginning' }).click();
  await shownRows(`yours, 1 of ${FROM}`);
  await shownRows(`yours, 2 of ${FROM}`);
  await page.getByRole('button', { name: 'Pause' }).click();
  await page.locator('.not-shown').waitFor();
  await page.locator('.written-control .slider input').fill(String(FROM + 1));
  await shownRows('written, 1 of 5');
  assert.equal((await listed()).length, 1);
  assert.match(await page.textContent('.written-words .title'), /ship.*looks at/);
  await page.getByRole('button', { name: 'One token on' }).click();
  await shownRows('written, 2 of 5');
  await assertAccessibleInFullTier();
  await page.locator('.written-control .slider input').fill(String(FROM + 5));
  await shownRows('written, 5 of 5');
  assert.equal(await page.locator('.not-shown').count(), 0);
  const { looked, names } = runOf(WRITTEN);
  await page.locator('.written-words tbody tr').nth(1).hover();
  await page.waitForFunction((name) => part('.cross .is-key')?.textContent === name, names[looked[FROM + 1]]);
  await page.locator('.written-words tbody button').nth(1).click();
  await page.waitForFunction(() => part('.reading .adds') && !part('.written-words'));
  await page.keyboard.press('Escape');
  await page.locator('.written-words').waitFor();
  assert.deepEqual(faults, []);
});

test('by keyboard: one token on at the end is written, and undone; typing ends the written rows', async () => {
  await openAt(hashOf(WRITTEN));
  await listed();
  await page.getByRole('button', { name: 'One token on' }).focus();
  await page.keyboard.press('Enter');
  await shownRows('written, 6 of 6');
  await settle();
  const longer = await textNow();
  assert.equal(tokenizer.encode(longer).ids.length, FROM + 6);
  await written();
  await page.getByRole('slider', { name: 'Rows that are shown' }).focus();
  await page.keyboard.press('ArrowLeft');
  await shownRows('written, 5 of 6');
  await page.keyboard.press('End');
  await shownRows('written, 6 of 6');
  await page.locator('.sentence textarea').fill('Call me');
  await page.waitForFunction(() => part('.labels').children.length > 0 && !part('.written-control'));
  await page.waitForFunction(() => !location.hash.includes('written'));
  assert.deepEqual(faults, []);
});

test('the rows are saved as CSV', async () => {
  await openAt(hashOf(WRITTEN));
  await listed();
  const { bytes } = await download(() => page.getByRole('button', { name: /CSV/ }).click());
  const [head, ...lines] = String(bytes).trim().split('\r\n');
  assert.equal(head, 'token,probability,looked most at,its place,weight');
  const { names, chances, looked } = runOf(WRITTEN);
  lines.forEach((line, i) => {
    const [name, chance, key, place] = line.split(',');
    const t = FROM + i;
    assert.deepEqual([name, key, Number(place)], [names[t], names[looked[t]], looked[t]]);
    assert.ok(Math.abs(Number(chance) - chances[t]) < 1e-4);
  });
  assert.equal(lines.length, 5);
});

fullTest('at 360 px, in Chinese and dark, the sheet lists the words', async () => {
  await openAt(hashOf(WRITTEN), {
    viewport: { width: 360, height: 740 },
    hasTouch: true,
    locale: 'zh-CN',
    colorScheme: 'dark',
  });
  await page.locator('.written-control').waitFor();
  await assertNoSidewaysScroll('360 px');
  await page.locator('.sheet-line').tap();
  assert.equal((await listed()).length, 5);
  await assertAccessible();
  assert.deepEqual(faults, []);
});
