// Tests the view Trace in Chromium further: empty states, tasks and the table, on a phone, in Chinese and in dark
// colours.

import assert from 'node:assert/strict';
import test from 'node:test';
import { assertAccessible, assertNoSidewaysScroll, faults, openAt, page } from '../../../support/page.js';
import { hashOf, isWhole, percent, placeOf, SHIP, sharesOf, T, WHALE, WORDS } from '../../../support/trace.js';

test('where nothing can be measured the view says why, and offers what helps', async () => {
  for (const [upper, lower, more, text, offer] of [
    [SHIP, SHIP, '', /^The two sentences are the same, so the answer cannot change\.$/, /Write another sentence/],
    [
      SHIP,
      WHALE,
      '&trace=own.0.score.ship.fire',
      /^Both give “ship” the higher score\. Choose other words/,
      /two words/,
    ],
    [SHIP, WHALE, '&trace=own.0.score.ship.ship', /^Too close: the shares would be noise\.$/, /Choose two words/],
    [SHIP, WHALE, '&trace=own.0.score.ship.xyzzy', /^“xyzzy” is no single token here\./, /Choose two words/],
  ]) {
    await openAt(hashOf(upper, lower, more));
    await page.waitForFunction(
      (source) => new RegExp(source).test(part('.trace-nothing [role=status]')?.textContent ?? ''),
      text.source,
    );
    assert.match(await page.textContent('.trace-nothing'), offer);
    assert.equal(await page.locator('.trace-cells').count(), 0);
    await assertAccessible();
  }
  await page.getByRole('button', { name: 'Choose two words' }).click();
  await page.waitForFunction(() => part('.trace-words input:focus'));
  for (const word of ['ship', 'whale']) {
    await page.keyboard.press('Control+A');
    await page.keyboard.type(word);
    await page.keyboard.press('Tab');
  }
  await page.keyboard.press('Enter');
  await isWhole();
  assert.match(await page.textContent('.trace-choices'), /score of ship − whale/);
  assert.deepEqual(faults, []);
});

test('the menu of tasks says why a task does not fit, and another pair can be chosen', async () => {
  await openAt(hashOf(SHIP, WHALE, '&trace=induction.0.score.ship.whale'));
  await isWhole();
  await page.getByRole('button', { name: 'Task: What came next last time?' }).click();
  const greater = page.getByRole('menuitemradio', { name: /Which year comes later/ });
  assert.equal(await greater.getAttribute('aria-disabled'), 'true');
  assert.match(await greater.textContent(), /needs two-digit numbers as single tokens/);
  await assertAccessible();
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: /^sentence: / }).click();
  await page.getByRole('menuitemradio', { name: '2 of' }).click();
  await page.waitForFunction(() => /boat|whale/.test(part('.trace-row.upper .differs')?.textContent ?? ''));
  await isWhole();
  assert.deepEqual(faults, []);
});

test('a table has the same shares', async () => {
  await openAt(hashOf(SHIP, WHALE, WORDS));
  await isWhole();
  await page.getByRole('button', { name: 'as a table' }).click();
  const rows = await page.locator('.trace-table table').first().locator('tbody tr').allInnerTexts();
  assert.equal(rows.length, 15);
  const share = await sharesOf(SHIP, WHALE, ['ship', 'whale']);
  const cells = rows[1].split('\t');
  assert.deepEqual(cells.slice(0, 2), ['4', 'heads']);
  assert.equal(cells.at(-1), String(Math.round(100 * share('heads', 4, T - 1))));
  await assertAccessible();
});

test('at 360 px one part of each layer is shown, a tap patches a cell, and nothing scrolls sideways', async () => {
  const share = await sharesOf(SHIP, WHALE, ['ship', 'whale']);
  await openAt(hashOf(SHIP, WHALE, WORDS), { viewport: { width: 360, height: 740 }, hasTouch: true });
  await isWhole();
  await assertNoSidewaysScroll('360 px');
  await page.locator('.trace-parts button', { hasText: 'heads' }).first().tap();
  const at = await placeOf('tokens', { row: 0.5, rows: 5, column: 6, columns: 7 });
  await page.touchscreen.tap(at.x, at.y);
  await page.waitForFunction(
    (text) => part('.tracing .share')?.textContent === text,
    `${percent(share('heads', 4, T - 1))}% of the answer returns`,
  );
  await page.locator('.patched').waitFor();
  await assertNoSidewaysScroll('360 px with a patch');
  await assertAccessible();
  assert.deepEqual(faults, []);
});

test('in Chinese and in dark colours, and absent during training', async () => {
  const share = await sharesOf(SHIP, WHALE, ['ship', 'whale']);
  await openAt(hashOf(SHIP, WHALE, `${WORDS}&patch=4.2%3A1`), { locale: 'zh-CN', colorScheme: 'dark' });
  await isWhole();
  assert.equal(await page.textContent('.tracing .share'), `答案回来了 ${percent(share('head', 4, 2))}%`);
  assert.match(
    await page.textContent('.trace-summary'),
    /^在每一层的输入处，答案都在 whale。 在第 4 层，头 4\.2 把它带到 the。$/,
  );
  await assertAccessible();
  await openAt('panel=train', { locale: 'en-GB' });
  await page.waitForFunction(() => part('.picture .matrix') !== null);
  assert.equal(await page.locator('.legend .choice button', { hasText: 'Trace' }).count(), 0);
});
