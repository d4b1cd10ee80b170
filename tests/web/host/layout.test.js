// The layout at every width.

import assert from 'node:assert/strict';
import test from 'node:test';
import { EXAMPLES } from '../../../web/model/examples.js';
import { assertNoSidewaysScroll, faults, open, page, settle, shownWeight, textOf, walk } from '../../support/page.js';
import { assertSame } from '../../support/weights.js';

for (const width of [360, 500, 720, 1024]) {
  test(`at ${width} px nothing scrolls sideways`, async () => {
    await open({ viewport: { width, height: 800 } });
    for (const example of Object.keys(EXAMPLES)) {
      await page.selectOption('#example', example);
      await settle();
      await assertNoSidewaysScroll(example);
    }
  });
}

test('nothing moves by itself', async () => {
  await open();
  await page.selectOption('#example', 'patches');
  await settle();
  assert.equal(
    await page.evaluate(() => document.getAnimations().length + part('main').getRootNode().getAnimations().length),
    0,
  );
  assert.equal(
    await page.evaluate(
      () =>
        [...part('main').querySelectorAll('*')].filter((one) => getComputedStyle(one).transitionDuration !== '0s')
          .length,
    ),
    0,
  );
});

test('the page has as many elements for 4096 tokens as for 128, the table a part', async () => {
  await open();
  await page.selectOption('#example', 'long');
  await page.click('#table-box summary');
  const count = async (tokens) => {
    await page.selectOption('#tokens', String(tokens));
    await settle();
    if (await page.locator('#heads').isVisible()) await page.selectOption('#heads', '1');
    await settle();
    return page.evaluate(() => part('main').querySelectorAll('*').length);
  };
  const small = await count(128);
  const large = await count(4096);
  assert.ok(Math.abs(large - small) < 20, `${small}, ${large}`);
  assert.match(await textOf('#facts'), /1 × 4096 × 4096 weights/);
  assert.match(await textOf('#table caption'), /64 × 64/);
  await walk(0, 0);
  assertSame(await shownWeight(), await page.evaluate(() => Number(part('#weight').dataset.value)), 'shown');
  assert.deepEqual(faults, []);
});

for (const width of [360, 1280, 1600, 1900, 2560]) {
  test(`at ${width} px the skip link is seen only while it has the focus, and leads to the picture`, async () => {
    await open({ viewport: { width, height: 800 } });
    const seenAt = () =>
      page.evaluate(() => {
        const { x, y, width, height } = part('h1').getBoundingClientRect();
        return [0.02, 0.5, 0.98].map(
          (share) =>
            part('h1')
              .getRootNode()
              .elementFromPoint(x + width * share, y + height / 2).id,
        );
      });
    assert.deepEqual(await seenAt(), ['', '', '']);
    assert.notEqual(await page.evaluate(() => getComputedStyle(part('#skip')).clipPath), 'none');
    await page.keyboard.press('Tab');
    assert.equal(await page.evaluate(() => part('#skip').matches(':focus')), true);
    assert.equal(await page.evaluate(() => getComputedStyle(part('#skip')).clipPath), 'none');
    const { x, width: wide } = await page.locator('#skip').boundingBox();
    assert.ok(x >= 0 && wide < 340, `${x}, ${wide}`);
    await page.keyboard.press('Enter');
    assert.equal(await page.evaluate(() => part('#large').matches(':focus')), true);
  });
}
