// Tests the view Text in Chromium, which shows the surprisal of each token, by mouse, keyboard and touch.

import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { logProbability } from 'headlight-attention/analysis';
import { percentText } from '../../../../web/model/numbers.ts';
import { makeCheckpoint } from '../../../support/checkpoint.js';
import {
  assertAccessible,
  assertAccessibleInFullTier,
  assertNoSidewaysScroll,
  chooseKind,
  faults,
  openAt,
  openChooser,
  page,
  spoil,
} from '../../../support/page.js';
import { fullTest } from '../../../support/tier.js';
import { loadWhale } from '../../../support/whale.js';

const { hl, whale, tokenizer } = await loadWhale();
const TEXT = 'They gave the ship to me. They gave the ship';
const ids = [...tokenizer.encode(TEXT).ids];
const LAST = ids.length - 1;
const hashOf = (text, more = '') => `view=text&text=${encodeURIComponent(text)}${more}`;
const OFF = [{ at: 'blocks.4.heads', head: 2, scale: 0 }];

/** Returns the probability of a token after the preceding tokens. */
const chanceOf = (t, edit) =>
  hl.scope(() => {
    const { logits } = whale.forward({ ids: [ids] }, { edit });
    return Math.exp(logProbability(ids[t], t - 1)({ logits: { data: logits.copy(), shape: [...logits.shape] } }));
  });
const isWhole = () => page.waitForFunction(() => part('.mean-track .thin')?.getAttribute('d'));
const reads = (t) =>
  page.waitForFunction(
    ([word, percent]) =>
      part('.surprise .title')?.textContent === `It expected ${word} with a probability of ${percent}`,
    [tokenizer.decode([ids[t]]).trim(), percentText(chanceOf(t))],
  );
const said = (pattern) =>
  page.waitForFunction((source) => new RegExp(source).test(part('.spoken[role=status]').textContent), pattern.source);

test('by mouse: a token has its probability, its line, and the other case', async () => {
  await openAt(hashOf(TEXT));
  await isWhole();
  // If no token is chosen, the values of the last token are shown.
  await reads(LAST);
  await page.locator('.strip-box [data-t="5"]').hover();
  await reads(5);
  await page.locator('.strip-box [data-t="3"]').click();
  await page.mouse.move(2, 600);
  await reads(3);
  assert.match(await page.evaluate(() => location.hash), /cell=3\./);
  const depths = await page
    .locator('.strip-box .token')
    .evaluateAll((all) =>
      all.map((token) => [token.style.getPropertyValue('--bits'), token.style.getPropertyValue('--other')]),
    );
  // The drawing is limited to 13 bits.
  const bits = (t, edit) => Math.min(-Math.log2(chanceOf(t, edit)), 13);
  assert.equal(depths[0][0], '');
  for (let t = 1; t <= LAST; t++) {
    assert.ok(Math.abs(Number(depths[t][0]) - bits(t)) < 0.01, `token ${t}: ${depths[t][0]}, not ${bits(t)}`);
    const other = bits(t, OFF);
    if (Math.abs(other - bits(t)) < 0.49) assert.equal(depths[t][1], '');
    else if (Math.abs(other - bits(t)) > 0.51) assert.ok(Math.abs(Number(depths[t][1]) - other) < 0.01);
  }
  const cost = (t) => Math.log2(chanceOf(t) / chanceOf(t, OFF));
  const dearest = ids
    .map((_, t) => t)
    .slice(1)
    .reduce((best, t) => (cost(t) > cost(best) ? t : best));
  const names = [dearest - 1, dearest].map((t) => tokenizer.decode([ids[t]]).trim());
  const listed = await page.locator('.surprise-costs li').first().innerText();
  assert.equal(listed.replace(/\s+/g, ' '), `${names.join(' ')} ${cost(dearest).toFixed(1)} bits harder`);
  await assertAccessibleInFullTier();
  // The chosen token is the query of the heatmap.
  await chooseKind('heatmap');
  await page.waitForFunction(() => part('.picture .matrix') && /cell=3\./.test(location.hash));
  await page.goBack();
  await page.waitForFunction(() => part('.text-view'));
  assert.deepEqual(faults, []);
});

test('by keyboard: arrows move between tokens and are spoken, Escape releases, then closes', async () => {
  await openAt(hashOf(TEXT));
  await isWhole();
  await page.locator('#picture').focus();
  await page.keyboard.press('ArrowLeft');
  await reads(LAST - 1);
  await said(/^the: \d+%\. First guess: \w+\.$/);
  await page.keyboard.press('Home');
  await said(/^\w+: no guess\.$/);
  await page.waitForFunction(() => part('.surprise .how').textContent === 'Nothing comes before the first token.');
  await page.keyboard.press('ArrowRight');
  await reads(1);
  await page.keyboard.press('End');
  await reads(LAST);
  await page.keyboard.press('Escape');
  await page.waitForFunction(() => !location.hash.includes('cell='));
  await page.keyboard.press('Escape');
  await page.waitForFunction(() => part('.picture .matrix') && !part('.text-view'));
  assert.deepEqual(faults, []);
});

test('the text can be typed here, written on, and read as a table', async () => {
  await openAt(hashOf('They gave the'));
  await page.getByRole('button', { name: 'edit the text' }).click();
  await page.waitForFunction(() => part('.text-field') === part('.text-view').getRootNode().activeElement);
  await page.keyboard.type(' ship to me. They gave the ship');
  await page.keyboard.press('Escape');
  await isWhole();
  await reads(LAST);
  await page.getByRole('button', { name: 'as a table' }).click();
  const rows = await page.locator('.text-table tbody tr').allInnerTexts();
  assert.equal(rows.length, ids.length);
  const [, chance, bits] = rows[LAST].split('\t');
  assert.deepEqual([chance, bits], [percentText(chanceOf(LAST)), (-Math.log2(chanceOf(LAST))).toFixed(2)]);
  await assertAccessibleInFullTier();
  await page.getByRole('button', { name: 'as a picture' }).click();
  await page.getByRole('button', { name: 'write on' }).click();
  await page.waitForFunction((n) => part('.strip-box').querySelectorAll('.token').length > n, ids.length);
  const styles = await page
    .locator('.strip-box .token')
    .evaluateAll((all) => all.map((one) => getComputedStyle(one).fontStyle));
  assert.deepEqual([styles[LAST], styles[LAST + 1]], ['normal', 'italic']);
  await page.keyboard.press('Escape');
  assert.deepEqual(faults, []);
});

fullTest('a head that is off, and a pinned run, are named as the other case', async () => {
  await openAt(hashOf(TEXT, '&scale=4.2%3A0'));
  await page.waitForFunction(() => /with the head on$/.test(part('.mean-line p')?.textContent ?? ''));
  const off = percentText(chanceOf(LAST, OFF));
  await page.waitForFunction(
    (percent) => part('.surprise .title').textContent === `It expected ship with a probability of ${percent}`,
    off,
  );
  // The head is off now, so the tokens that it helps are harder than with the head on, and the numbers end with now.
  const cost = (t) => Math.log2(chanceOf(t) / chanceOf(t, OFF));
  const places = ids.map((_, t) => t).filter((t) => t > 0);
  const largest = places.reduce((best, t) => (Math.abs(cost(t)) > Math.abs(cost(best)) ? t : best));
  assert.equal(
    await page.locator('.surprise-costs li span').first().textContent(),
    `${Math.abs(cost(largest)).toFixed(1)} bits ${cost(largest) > 0 ? 'harder' : 'easier'}`,
  );
  assert.equal(await page.textContent('.surprise-whole .how'), 'with the head on → now');
  const mean = (edit) => places.reduce((sum, t) => sum - Math.log2(chanceOf(t, edit)), 0) / places.length;
  const [before, now] = [mean(), mean(OFF)].map((bits) => bits.toFixed(1));
  assert.equal(await page.locator('.surprise-whole dd').first().textContent(), `${before} → ${now}`);
  const pinned = encodeURIComponent(new URLSearchParams({ text: TEXT.replace('ship to', 'whale to') }));
  await openAt(hashOf(TEXT, `&pinned=${pinned}`));
  await page.waitForFunction(() => /in the pinned run$/.test(part('.mean-line p')?.textContent ?? ''));
  await page.waitForFunction(() => part('.surprise-costs h3')?.textContent === 'Where it changes most');
  assert.match(await page.textContent('.surprise-whole .how'), /^in the pinned run → now$/);
  await assertAccessibleInFullTier();
});

test('a short text offers a longer passage', async () => {
  await openAt(hashOf(TEXT));
  await page.getByRole('button', { name: 'Show a passage that repeats its beginning' }).click();
  await page.waitForFunction((n) => part('.strip-box')?.querySelectorAll('.token').length > n, 60);
  await page.waitForFunction(() => part('.short-text') === null);
  assert.deepEqual(faults, []);
});

fullTest('a long text scrolls, and its mean line shows where and jumps', async () => {
  await openAt(hashOf(Array(12).fill(TEXT).join('. '), '&cell=2.0'));
  await page.waitForFunction(() => part('.mean-track .in-sight'));
  const { x, y, width } = await page.locator('.mean-track').boundingBox();
  await page.mouse.click(x + 0.9 * width, y + 10);
  await page.waitForFunction(() => part('.strip-box').scrollTop > 0);
  await page.waitForFunction(() => {
    const box = part('.strip-box').getBoundingClientRect();
    const frame = part('.read-token').getBoundingClientRect();
    return frame.top >= box.top && frame.bottom <= box.bottom;
  });
  assert.deepEqual(faults, []);
});

fullTest('in Chinese and in dark colours, and absent during training', async () => {
  await openAt(hashOf(TEXT), { locale: 'zh-CN', colorScheme: 'dark' });
  const percent = percentText(chanceOf(LAST));
  await page.waitForFunction(
    (percent) => part('.surprise .title')?.textContent === `它预期 ship 的概率是 ${percent}`,
    percent,
  );
  await assertAccessible();
  await openAt('panel=train&view=text', { locale: 'en-GB' });
  await page.waitForFunction(() => part('.picture .matrix'));
  await page.locator('.legend .menu > button').click();
  assert.equal(await page.locator('.legend [data-key=lines]').count(), 1);
  assert.equal(await page.locator('.legend [data-key=text]').count(), 0);
});

test('a model that fills gaps shows the probability of each token when it is masked', async () => {
  await openAt('');
  const folder = mkdtempSync(join(tmpdir(), 'headlight-'));
  makeCheckpoint(folder, 'bert');
  await openChooser();
  await page.locator('input[data-name=files]').setInputFiles(readdirSync(folder).map((name) => join(folder, name)));
  await page.waitForFunction(() => part('.told .word'));
  await page.evaluate(() => part('.told .word').click());
  await chooseKind('text');
  await page.waitForFunction(() => part('.strip-box') && !part('.text-progress'));
  assert.match(await page.textContent('.depth-about'), /^probability when masked/);
  await page.locator('.strip-box [data-t="2"]').click();
  await page.waitForFunction(() =>
    /^If masked, it expects .+ with a probability of [\d.<]+%$/.test(part('.surprise .title').textContent),
  );
  // The first and last tokens are inserted by the tokenizer, and one word of the text is a mask.
  assert.deepEqual(await page.locator('.strip-box .silent').allTextContents(), ['[CLS]', '[MASK]', '[SEP]']);
  spoil();
  await assertAccessibleInFullTier();
  assert.deepEqual(faults, []);
});

fullTest('at 360 px a tap reads a token, and nothing scrolls sideways', async () => {
  await openAt(hashOf(TEXT), { viewport: { width: 360, height: 740 }, hasTouch: true });
  await page.waitForFunction(() => part('.strip-box .worse'));
  await assertNoSidewaysScroll('360 px');
  await page.locator('.strip-box [data-t="5"]').tap();
  await reads(5);
  await assertAccessible();
  assert.deepEqual(faults, []);
});
