// Tests the orders of heads: by ablation, by distance from uniform weights, and by a score.

import assert from 'node:assert/strict';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { writeNpy } from 'headlight-attention/formats';
import { fromUniform, orderOf } from '../../../../web/features/heads/sortHeads.ts';
import { assertAccessibleInFullTier, faults, openChooser, openEmpty, page, server } from '../../../support/page.js';
import { inTier } from '../../../support/tier.js';

test('distance from uniform is 0 for uniform rows and 1 for single keys; masked keys do not count', () => {
  const alike = Float32Array.of(1, 0, 0, 0.5, 0.5, 0, 1 / 3, 1 / 3, 1 / 3);
  assert.ok(Math.abs(fromUniform(alike, 3, 3)) < 1e-6);
  assert.equal(fromUniform(Float32Array.of(1, 0, 0, 1, 0, 0, 0, 0, 1), 3, 3), 1);
  const sharper = Float32Array.of(1, 0, 0, 0.9, 0.1, 0, 0.8, 0.1, 0.1);
  assert.ok(fromUniform(sharper, 3, 3) > 0.2);
});

test('heads of a layer are sorted by a score; equal ones keep their order', () => {
  const run = {
    about: { layers: 2, heads: 3 },
    scores: [
      [1, 3, 1],
      [0, Number.NaN, 2],
    ].map((row) => row.map((first) => ({ first }))),
  };
  assert.deepEqual(orderOf('first', run, null), [
    [1, 0, 2],
    [2, 0, 1],
  ]);
  assert.equal(orderOf('effect', run, { switchedOff: [], total: 6, before: 0.5 }), null);
});

test('the order by cost is that of the shown attention; without a prediction, larger angles come first', () => {
  const run = { about: { layers: 1, heads: 2 } };
  const off = (part, head, value) => ({ part, layer: 0, head, value });
  const switchedOff = [off('decoder', 0, 0.4), off('decoder', 1, 0.1), off('cross', 0, 0.1), off('cross', 1, 0.4)];
  const ablation = { measure: 'probability', before: 0.5, total: 4, switchedOff };
  assert.deepEqual(orderOf('effect', run, ablation, 'decoder'), [[1, 0]]);
  assert.deepEqual(orderOf('effect', run, ablation, 'cross'), [[0, 1]]);
  assert.deepEqual(orderOf('effect', run, { ...ablation, measure: 'angle', before: 0 }, 'cross'), [[1, 0]]);
});

const left = (name) => page.locator(`[data-head="${name}"]`).evaluate((one) => Number.parseFloat(one.style.left));
async function open() {
  await openEmpty({ viewport: { width: 1440, height: 900 }, locale: 'en-GB' });
  await page.goto(server.url);
  await page.waitForFunction(() => part('.page')?.dataset.busy === 'false');
}
const sort = async (name) => {
  await page.locator('.sort .word').click();
  await page.getByRole('menuitemradio', { name }).click();
};

test('by cost: every head is ablated, the most important is first, and arrow keys follow the order', async () => {
  await open();
  const own = await left('4.2');
  await sort(/^in each layer, by cost/);
  await page.waitForFunction((own) => Number.parseFloat(part('[data-head="4.2"]').style.left) < own, own);
  assert.equal(await left('4.2'), Math.min(...(await Promise.all([0, 1, 2, 3].map((h) => left(`4.${h}`))))));
  // In another order each head has its number.
  const numbered = await page.evaluate(() =>
    [...part('.page').querySelectorAll('.head-number')].map((one) => {
      const { right, top } = one.getBoundingClientRect();
      const head = part(`[data-head="${one.textContent}"] canvas`).getBoundingClientRect();
      return Math.abs(right - head.right) < 2 && Math.abs(top - head.top) < 4;
    }),
  );
  assert.deepEqual(numbered, Array(20).fill(true));
  await page.locator('[data-head="4.2"]').focus();
  await page.keyboard.press('ArrowLeft');
  assert.equal(await page.locator('[aria-checked=true].thumbnail').getAttribute('data-head'), '4.2');
  await page.keyboard.press('ArrowRight');
  const second = await page.locator('[aria-checked=true].thumbnail').getAttribute('data-head');
  const places = await Promise.all([0, 1, 2, 3].map(async (h) => [await left(`4.${h}`), `4.${h}`]));
  assert.equal(second, places.sort(([a], [b]) => a - b)[1][1]);
  await assertAccessibleInFullTier();
  await sort('by number');
  await page.waitForFunction(() => part('.head-number') === null);
  await page.waitForFunction((own) => Number.parseFloat(part('[data-head="4.2"]').style.left) === own, own);
  assert.deepEqual(faults, []);
});

/** Defines a test only in the full tier, because 1,024 heads take eight seconds. */
const testInFullTier = inTier(test, () => {});

testInFullTier('32 × 32 heads are sorted, walked by keyboard, and enlarged by a lens', async () => {
  await open();
  const [L, T] = [32, 8];
  const data = new Float32Array(L * L * T * T);
  for (let i = 0; i < L * L; i++)
    for (let t = 0; t < T; t++)
      for (let s = 0; s <= t; s++) {
        // The weight of the first token increases with the number of the head.
        const first = t === 0 ? 1 : 1 / (t + 1) + ((i % L) / L) * (1 - 1 / (t + 1));
        data[(i * T + t) * T + s] = s === 0 ? first : (1 - first) / t;
      }
  const folder = mkdtempSync(join(tmpdir(), 'headlight-'));
  writeFileSync(join(folder, 'many.npy'), writeNpy({ data, shape: [L, L, T, T] }));
  await openChooser();
  await page.locator('input[data-name=files]').setInputFiles(join(folder, 'many.npy'));
  await page.waitForFunction(() => part('.model')?.querySelectorAll('.thumbnail').length === 1024);
  await sort('in each layer, by certainty');
  await page.waitForFunction(() => {
    const at = (name) => Number.parseFloat(part(`[data-head="${name}"]`).style.left);
    return at('0.31') < at('0.30') && at('0.30') < at('0.0');
  });
  await page.locator('[data-head="0.0"]').focus();
  await page.keyboard.press('ArrowLeft');
  await page.waitForFunction(() => part('.thumbnail[aria-checked=true]').dataset.head === '0.1');
  await page.keyboard.press('ArrowUp');
  await page.waitForFunction(() => part('.thumbnail[aria-checked=true]').dataset.head === '1.1');
  await page.locator('.heads-lens').waitFor();
  await page.waitForFunction(() => part('.corner h2').textContent.startsWith('Layer 1, head 1'));
});
