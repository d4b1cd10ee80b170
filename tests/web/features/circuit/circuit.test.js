// Tests the circuit in Chromium, by mouse, by keyboard and on a phone.

import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { families } from '../../../support/families.js';
import {
  assertAccessible,
  assertAccessibleInFullTier,
  assertNoSidewaysScroll,
  download,
  faults,
  openAt,
  openChooser,
  page,
  share,
  spoil,
} from '../../../support/page.js';
import { fullTest } from '../../../support/tier.js';

const TRICK = 'h3.3-k4.2';
const isWhole = () => page.waitForFunction(() => part('.circuit-list li') && !part('.circuit-work'));
const said = (pattern) =>
  page.waitForFunction((source) => new RegExp(source).test(part('.spoken[role=status]').textContent), pattern.source);
const inAddress = (text) => page.waitForFunction((part) => location.hash.includes(part), text);
const guess = () => page.textContent('.circuit-guess [data-name=probability]');
/** Draws and lists all lines that are kept. At first there are only the strongest six. */
const showAll = async () => {
  assert.equal(await page.locator('.circuit-list li').count(), 6);
  await page.locator('[data-name=how-many]').click();
  await page.waitForFunction(() => part('.circuit-list').children.length > 6);
  await page.mouse.move(1, 1);
};
const row = (name) => page.locator(`.circuit-list [data-name="${name}"]`);
const costOf = async (name) => (await row(name).locator('b').textContent()) ?? '';

test('by mouse: the circuit, a line of the list, a cut with all that follows from it, Undo and Back', async () => {
  await openAt('view=flow');
  await page.getByRole('button', { name: 'the circuit' }).click();
  await isWhole();
  assert.match(await page.textContent('[data-name=kept]'), /^\d+ lines keep 9\d%$/);
  await showAll();
  assert.match(
    await page.textContent('.circuit-about'),
    /^of the probability of mate, with all 7\d\d other lines cut\.$/,
  );
  assert.match(await guess(), /^[89]\d%$/);
  const { name, bytes } = await download(() => share('Numbers, CSV'));
  assert.equal(name, 'headlight-whale-circuit-mate.csv');
  assert.match(`${bytes}`, /^1,h4\.2-l,4\.2,the guess,/m);
  assert.match(await costOf(TRICK), /^−[89]\d$/);
  assert.match(await row(TRICK).textContent(), /^3\.3 → key of 4\.2/);
  // The drawing has the same edges as the list.
  const names = await page
    .locator('.circuit-list [data-name]')
    .evaluateAll((all) => all.map((one) => one.dataset.name));
  const drawn = await page.locator('.circuit-line').evaluateAll((all) => all.map((one) => one.dataset.line));
  assert.deepEqual([...drawn].sort(), [...names].sort());
  // Each edge is drawn as a line with a halo, which separates it from the lines that it crosses.
  const margins = await page.locator('.circuit-line').evaluateAll((all) =>
    all.map((one) => {
      const [halo, line] = ['.halo', '.line'].map((name) =>
        Number(one.querySelector(name).getAttribute('stroke-width')),
      );
      return halo - line;
    }),
  );
  assert.ok(
    margins.every((margin) => Math.abs(margin - 5) < 1e-6),
    margins.join(),
  );
  await assertAccessibleInFullTier();
  await row(TRICK).hover();
  await page.locator(`.circuit-line.pointed[data-line="${TRICK}"]`).waitFor();
  assert.equal(await page.locator('.circuit-line.dimmed').count(), names.length - 1);
  await page.locator(`.circuit-line[data-line="${TRICK}"] .touch`).dispatchEvent('click');
  await page.waitForFunction(() => part('[data-name=cuts]')?.textContent === 'One line is cut');
  await page.locator(`.circuit-line.cut[data-line="${TRICK}"] .strokes`).waitFor();
  assert.match(await guess(), /^[0-5]%$/);
  assert.equal(await costOf(TRICK), 'cut');
  // After the cut, the effects that were measured before it are measured again.
  await page.waitForFunction(() => /^was −[89]\d$/.test(part('[data-name="h4.2-l"] .was')?.textContent));
  assert.match(await page.textContent('.circuit-facts'), /4\.2 looks at mate0\.[89]\d → 0\.\d\d/);
  assert.match(await page.textContent('.patched'), /^cut 3\.3 → key of 4\.2/);
  await inAddress('h3.3-k4.2');
  await assertAccessibleInFullTier();
  await row('h4.2-l').click();
  await page.waitForFunction(() => part('[data-name=cuts]')?.textContent === '2 lines are cut');
  assert.match(await page.textContent('.patched'), /^2 lines are cut/);
  await page.locator('.patched button').click();
  await page.waitForFunction(() => part('[data-name=kept]'));
  assert.match(await guess(), /^[89]\d%$/);
  // The cuts are one history entry, and the circuit is another.
  for (let i = 0; i < 2; i++) await page.goBack();
  await page.waitForFunction(() => part('.flow .ribbon'));
  assert.deepEqual(faults, []);
});

test('six lines are drawn at first; only lines of the chosen head and under the pointer have figures', async () => {
  await openAt('view=flow&circuit=usual_');
  await isWhole();
  const kept = Number.parseInt(await page.textContent('[data-name=kept]'), 10);
  assert.ok(kept > 6);
  assert.equal(await page.locator('.circuit-line').count(), 6);
  assert.equal(await page.textContent('[data-name=how-many]'), `Show all ${kept} lines`);
  const touching = (name) => name.split('-').some((node) => /^[hqkv]4\.2$/.test(node));
  const names = () => page.locator('.circuit-line').evaluateAll((all) => all.map(({ dataset }) => dataset.line));
  const figures = () => page.locator('.circuit-figure').count();
  const [apart] = (await names()).filter((name) => !touching(name));
  const chosen = (await names()).filter(touching).length;
  assert.ok((await figures()) > 0 && (await figures()) <= chosen, `${await figures()} figures, ${chosen} lines`);
  const before = await figures();
  await row(apart).hover();
  await page.waitForFunction(
    (n) => part('.circuit-drawing').querySelectorAll('.circuit-figure').length === n + 1,
    before,
  );
  await page.locator('[data-name=how-many]').click();
  await page.waitForFunction((n) => part('.circuit-list').children.length === n, kept);
  await inAddress(`circuit=usual_${kept}`);
  await page.locator('[data-name=how-many]').click();
  await page.waitForFunction(() => part('.circuit-list').children.length === 6);
  assert.deepEqual(faults, []);
});

test('by keyboard: the circuit, one line is cut and reconnected, more lines are kept, Escape closes', async () => {
  await openAt('view=flow');
  await page.getByRole('button', { name: 'the circuit' }).focus();
  await page.keyboard.press('Enter');
  await isWhole();
  await showAll();
  await page.locator('#picture').focus();
  const place = await page
    .locator('.circuit-list [data-name]')
    .evaluateAll((all, name) => all.findIndex((one) => one.dataset.name === name), TRICK);
  for (let i = 0; i <= place; i++) await page.keyboard.press('ArrowDown');
  await said(/^3\.3 → key of 4\.2: −[89]\d points if it is cut$/);
  await page.keyboard.press('x');
  await said(/^Cut\. mate went from [89]\d% to [0-5]%\.$/);
  await page.locator('.circuit-line.cut').waitFor();
  await page.keyboard.press('x');
  await said(/^Reconnected\.$/);
  await page.waitForFunction(() => !part('.circuit-line.cut') && part('[data-name=kept]'));
  const before = Number.parseInt(await page.textContent('[data-name=kept]'), 10);
  await page.keyboard.press('ArrowRight');
  await said(new RegExp(`^${before + 1} lines keep \\d+%$`));
  assert.equal(await page.locator('.circuit-list li').count(), before + 1);
  // The arrow keys of the slider do not reach a page that contains the view.
  await page.evaluate(() => {
    Object.assign(window, { heard: [], hear: ({ key }) => heard.push(key) });
    addEventListener('keydown', hear);
  });
  await page.locator('.circuit-curve input').focus();
  for (const key of ['ArrowLeft', 'ArrowLeft']) await page.keyboard.press(key);
  const heard = await page.evaluate(() => {
    removeEventListener('keydown', hear);
    return heard;
  });
  assert.deepEqual(heard, []);
  await page.waitForFunction(
    (n) => part('.circuit-curve input').getAttribute('aria-valuetext').startsWith(`${n} lines keep`),
    before - 1,
  );
  await inAddress(`circuit=usual_${before - 1}`);
  await row(TRICK).focus();
  await page.keyboard.press('ArrowDown');
  await page.locator('.circuit-line.pointed').waitFor();
  await page.locator('#picture').focus();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Escape');
  await page.waitForFunction(() => !part('.circuit-line.pointed'));
  await page.keyboard.press('Escape');
  await page.waitForFunction(() => part('.picture .matrix'));
  assert.deepEqual(faults, []);
});

fullTest('two sentences: the lines carry the lead, and a cut line the other sentence, the mean or zero', async () => {
  const [ship, whale] = ['ship', 'whale'].map((word) => `They gave the ${word} to me. They gave the`);
  const pinned = encodeURIComponent(new URLSearchParams({ text: whale }));
  await openAt(
    `view=flow&circuit=usual_&text=${encodeURIComponent(ship)}&pinned=${pinned}&trace=own.0.score.whale.ship`,
  );
  await isWhole();
  assert.match(await page.textContent('.circuit-title p'), /^The connections behind ship rather than whale\./);
  assert.match(await page.textContent('.circuit-about'), /^of the lead of ship, with all/);
  const menu = page.locator('.whatif .carries button').first();
  assert.equal(await menu.textContent(), 'the other sentence');
  await menu.click();
  await page.locator('.carries [data-key=zero]').click();
  await page.waitForFunction(() => part('.whatif .carries button').textContent === 'zero');
  await isWhole();
  await inAddress('circuit=zero_');
  await page.goBack();
  await page.waitForFunction(() => part('.whatif .carries button')?.textContent === 'the other sentence');
  assert.deepEqual(faults, []);
});

fullTest('a sentence of another length cannot be carried, and the mean can', async () => {
  const pinned = encodeURIComponent(new URLSearchParams({ text: 'Call me' }));
  await openAt(`view=flow&circuit=other_&pinned=${pinned}`);
  await page.waitForFunction(() =>
    /^This sentence has 14 tokens, the other one 3\./.test(part('.circuit-note')?.textContent),
  );
  await assertAccessible();
  await page.getByRole('button', { name: 'Use the corpus mean' }).click();
  await isWhole();
  assert.deepEqual(faults, []);
});

fullTest('on a phone at most six lines are drawn, and the list has all', async () => {
  await openAt(`view=flow&circuit=usual__${TRICK}`, { viewport: { width: 360, height: 740 } });
  await isWhole();
  await page.waitForFunction(() => part('[data-name=cuts]') && part('.circuit-list .was'));
  assert.equal(await page.locator('.circuit-line').count(), 6);
  assert.match(await page.textContent('.few'), /^The 6 strongest of \d+ lines$/);
  assert.equal(await page.locator('.circuit-list li').count(), 6);
  await page.locator('[data-name=how-many]').click();
  await page.waitForFunction(() => part('.circuit-list').children.length > 6);
  assert.equal(await page.locator('.circuit-line').count(), 6);
  assert.equal(await page.locator('.circuit-panel .carries').count(), 1);
  await assertNoSidewaysScroll('the circuit on a phone');
  await assertAccessible();
  await page.locator('.patched button').click();
  await page.waitForFunction(() => part('[data-name=kept]'));
  assert.deepEqual(faults, []);
});

test('a family whose parts do not add up is refused by name', async () => {
  const { files } = families.find(({ name }) => name === 'OPT with a narrow embedding and norms after');
  const folder = mkdtempSync(join(tmpdir(), 'headlight-'));
  for (const [file, content] of Object.entries(files)) writeFileSync(join(folder, file), content);
  await openAt('view=flow&circuit=usual_');
  spoil();
  await openChooser();
  await page.locator('input[data-name=files]').setInputFiles(readdirSync(folder).map((name) => join(folder, name)));
  await page.locator('.told .word').first().click();
  await page.waitForFunction(() => /^opt has no lines to cut/.test(part('.circuit-note')?.textContent));
  assert.deepEqual(faults, []);
});
