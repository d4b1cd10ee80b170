// Tests the menu of the heatmap in Chromium: colour scales, the mean over heads, and attention rollout.

import assert from 'node:assert/strict';
import test from 'node:test';
import { rollout } from 'headlight-attention/analysis';
import { OPENING } from '../../../../web/model/state.ts';
import { FROM, LAST } from '../../../support/opening.js';
import { chooseKind, faults, openPage, page } from '../../../support/page.js';
import { fullTest } from '../../../support/tier.js';
import { loadWhale } from '../../../support/whale.js';

const { hl, whale, tokenizer } = await loadWhale();
const ids = [...tokenizer.encode(OPENING).ids];
const T = ids.length;
const layers = hl.scope(() => {
  const { captured } = whale.forward({ ids: [ids] }, { capture: ['blocks.*.weights'] });
  return [0, 1, 2, 3, 4].map((l) => {
    const tensor = captured[`blocks.${l}.weights`];
    return { data: tensor.copy(), shape: [...tensor.shape] };
  });
});
/** Returns the mean weight from the last token to the token from which the prediction is copied. */
const meanOf = (list) => {
  const all = list.flatMap(({ data, shape: [, H] }) =>
    Array.from({ length: H }, (_, h) => data[(h * T + LAST) * T + FROM]),
  );
  return all.reduce((a, b) => a + b) / all.length;
};
const reads = (title, weight) =>
  page.waitForFunction(
    ([title, weight]) =>
      part('.corner .head-name')?.textContent === title && part('.reading [data-name=weight]')?.textContent === weight,
    [title, weight.toFixed(2)],
  );

fullTest('the colours of weights: 0 to 1, this head, or logarithmic, also in the address', async () => {
  await openPage();
  const marks = () => page.locator('.ramp span').allTextContents();
  const chosen = () =>
    page.locator('.legend [data-key][aria-checked=true]').evaluateAll((all) => all.map((one) => one.dataset.key));
  assert.deepEqual(await marks(), ['0', '0.25', '1']);
  await chooseKind('log');
  await page.waitForFunction(() => location.hash.includes('colours=log'));
  await page.locator('.legend .menu > button').click();
  assert.deepEqual(await chosen(), ['heatmap', 'tokens', 'log', 'mean-head']);
  await page.keyboard.press('Escape');
  assert.deepEqual(await marks(), ['0.0001', '0.01', '0.1', '1']);
  await chooseKind('head');
  await page.waitForFunction(() => location.hash.includes('colours=head'));
  await chooseKind('fixed');
  await page.waitForFunction(() => !location.hash.includes('colours'));
  assert.deepEqual(faults, []);
});

test('the mean of a layer, of all heads, and rollout equal the module', async () => {
  await openPage({}, `cell=${LAST}.${FROM}`);
  await chooseKind('mean-layer');
  await reads('Mean of layer 4', meanOf(layers.slice(4)));
  assert.equal(await page.locator('.reading .keys-list li').count(), 8);
  await page.waitForFunction(() => location.hash.includes('mean=layer'));
  await chooseKind('mean-all');
  await reads('Mean of all heads', meanOf(layers));
  await chooseKind('mean-rollout');
  const { data } = rollout(layers).at(-1);
  await reads('Attention rollout', data[LAST * T + FROM]);
  assert.deepEqual(faults, []);
});
