// Tests Flow and the ablation of every head in Chromium: numbers on the page, the keyboard, and accessibility (axe).

import assert from 'node:assert/strict';
import test from 'node:test';
import { OPENING } from '../../../../web/model/state.ts';
import { assertAccessible, assertAccessibleInFullTier, faults, openAt, page } from '../../../support/page.js';
import { inTier } from '../../../support/tier.js';
import { loadWhale } from '../../../support/whale.js';

/** The largest logit after the initial text. */
const { whale, tokenizer } = await loadWhale();
const { logits } = whale.forward({ ids: tokenizer.encode(OPENING).ids }, { last: true });
const LARGEST = Math.max(...logits.data).toFixed(2);

async function start(hash, colorScheme = 'light') {
  await openAt(hash, { colorScheme });
}

test('flow shows contributions, the keyboard chooses another head, and axe finds nothing', async () => {
  for (const scheme of inTier(['light', 'dark'], ['dark'])) {
    await start('view=flow', scheme);
    await page.waitForFunction(() => part('.composition.key .line') !== null);
    assert.equal(await page.evaluate(() => part('[data-name=logit]').textContent), LARGEST);
    await page.focus('[data-head="4.2"]');
    await page.keyboard.press('ArrowDown');
    await page.waitForFunction(() => part('.adding .title')?.textContent === 'Layer 3, head 2');
    await assertAccessible();
  }
  assert.deepEqual(faults, []);
});

test('the listed tokens and the rest of a head add up to what it adds', async () => {
  const { ids } = tokenizer.encode(OPENING);
  for (const count of [3, 4, 5]) {
    const text = tokenizer.decode(ids.slice(0, count));
    await start(`view=flow&text=${encodeURIComponent(text)}`);
    await page.waitForFunction(
      ([text, rows]) => part('.sentence textarea')?.value === text && part('.made tbody')?.rows.length === rows,
      [text, Math.min(count, 4)],
    );
    const numbers = await page
      .locator('.made caption b, .made td:last-child')
      .evaluateAll((all) => all.map((one) => Number(one.textContent.replace('−', '-'))));
    const [whole, ...listed] = numbers;
    const sum = listed.reduce((a, b) => a + b);
    assert.ok(Math.abs(whole - sum) <= 0.005 * (listed.length + 1) + 1e-9, `${count} tokens: ${numbers}`);
  }
});

test('every head is ablated, and the one with the largest effect is first', async () => {
  await start('');
  await page.focus('.sort button');
  await page.keyboard.press('Enter');
  await page.focus('.sort [data-key=ablate]');
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => part('.ablation li button')?.textContent.match(/^Layer (4, head 2|3, head 3)/));
  await page.waitForFunction(() => part('.ablation .try').textContent === 'Ablate each head');
  assert.match(await page.textContent('[data-head="4.2"] .role-name'), /−[89]\d/);
  // Heads whose ablation raises the probability are last.
  assert.equal(await page.locator('.ablation li').count(), 20);
  assert.match(await page.locator('.ablation li b').last().textContent(), /^\+[1-9]/);
  await assertAccessibleInFullTier();
  // Flow lists the heads that act through other heads. Head 3.3 itself adds little to the logit.
  await page.locator('.ablation > .word').last().click();
  await page.getByRole('button', { name: /^Flow/ }).click();
  const through = page
    .locator('.adding p.how', { hasText: 'Needed, although they add little here' })
    .locator('xpath=following::ul[1]/li');
  await through.first().waitFor();
  assert.match(await through.first().textContent(), /^Layer 3, head 3\s*−[5-9]\d/);
});

for (const [width, height] of [
  [2560, 1440],
  [1440, 900],
  [1024, 768],
])
  test(`${width} px: no figure and no guess of flow is cut, and the list says first what it leaves out`, async () => {
    await openAt('view=flow', { viewport: { width, height } });
    await page.waitForFunction(() => part('.flow .ribbon') && part('.adding li b'));
    const cut = await page.evaluate(() =>
      [...part('.page').querySelectorAll('.adding li b, .adding td, .early, .flow-piece span')]
        .filter((one) => {
          const box = one.getBoundingClientRect();
          const around = one.closest('.adding, .flow-piece, .flow').getBoundingClientRect();
          return one.scrollWidth > one.clientWidth + 1 && getComputedStyle(one).display !== 'inline'
            ? true
            : box.right > around.right + 1 || box.left < around.left - 1;
        })
        .map((one) => one.textContent),
    );
    assert.deepEqual(cut, []);
    const [warning, list] = await page.evaluate(() =>
      ['.adding h3 + .how', '.adding ul.for'].map((name) => part(name).getBoundingClientRect().top),
    );
    assert.ok(warning < list, 'the warning is above the list');
    assert.ok(warning < height - 60, 'the warning is in sight');
  });
