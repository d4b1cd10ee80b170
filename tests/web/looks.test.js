// Tests what the parts of the page show, and how they react, in Chromium. looks.full.test.js tests their sizes and
// positions, and states.test.js checks every state.

import assert from 'node:assert/strict';
import test from 'node:test';
import { OPENING } from '../../web/model/state.ts';
import { GUESS, NAMES } from '../support/opening.js';
import { assertAccessibleInFullTier, chooseKind, faults, page, spoil } from '../support/page.js';
import { inTier } from '../support/tier.js';
import { HEIGHTS, open, PINNED, PINNED_OPENING } from './open.js';

test('pointer and keyboard choose the query patch; its weights are read in the panes', async () => {
  await open('model=patches&text=&layer=0&head=4', 1440);
  await page.waitForFunction(() => part('.pane canvas'));
  const box = await page.locator('.pane').first().boundingBox();
  const side = box.width / 14;
  await page.mouse.move(box.x + 10.5 * side, box.y + 2.5 * side);
  await page.waitForFunction(() => part('.reading .title').textContent.startsWith('2·10 looks at 2·3'));
  await page.mouse.down();
  await page.mouse.up();
  const second = await page.locator('.pane').last().boundingBox();
  await page.mouse.move(second.x + 0.5 * side, second.y + 0.5 * side);
  await page.waitForFunction(() => part('.reading .title').textContent.startsWith('2·10 looks at 0·0'));
  await page.mouse.move(5, 5);
  await page.locator('.pane').first().focus();
  await page.keyboard.press('ArrowDown');
  await page.waitForFunction(() => part('.spoken').textContent.startsWith('Attention from 3·10 to 3·3'));
  await chooseKind('matrix');
  await page.waitForFunction(() => part('.picture .matrix') && part('.patches.small'));
  await assertAccessibleInFullTier();
  await chooseKind('heatmap');
  await page.waitForFunction(() => part('.patches.large'));
  await assertAccessibleInFullTier();
  assert.deepEqual(faults, []);
});

/** Minimum width of each of two pictures, by the width of the window. @type {Record<number, number>} */
const PAIRS = { 2560: 700, 1920: 520, 1440: 400, 1024: 270 };
for (const [width, least] of inTier([2560, 1920, 1440, 1024], [1440]).map((width) => [width, PAIRS[width]]))
  test(`${width} px: two runs side by side are ${least} px wide each, below the reading`, async () => {
    await open(`view=compare&scale=4.2%3A0&${PINNED_OPENING}`, Number(width));
    await page.waitForFunction(() => part('.comparing .row-table') && part('.compare .labels'));
    const found = await page.evaluate(() => {
      const box = (element) => element.getBoundingClientRect().toJSON();
      const page = part('.page');
      const column = part('.right');
      return {
        pictures: [...page.querySelectorAll('.compare .matrix')].map(box),
        headings: [...page.querySelectorAll('.compare .heading')].map(box),
        reading: Math.max(...[...page.querySelectorAll('.comparing tr')].map((row) => box(row).bottom)),
        cut: column.scrollHeight - column.clientHeight,
        end: box(part('.whatif')).top,
      };
    });
    const [now, old] = found.pictures;
    assert.ok(now.width >= least && old.width === now.width && old.top === now.top, `${now.width} px`);
    assert.ok(old.left >= now.right && old.right <= width && now.bottom < found.end);
    for (const heading of found.headings) assert.ok(heading.top >= found.reading, `${heading.top}, ${found.reading}`);
    assert.ok(found.cut <= 0, `${found.cut} px of the reading are cut off`);
    await assertAccessibleInFullTier();
  });

test('the difference of two runs with the same weights says that they are the same', async () => {
  await open(`view=compare&versus=difference&scale=4.2%3A0&${PINNED_OPENING}`, 1440);
  await page.getByText('No weight of this head differs.').waitFor();
  await open(`view=compare&versus=difference&scale=3.1%3A0&${PINNED_OPENING}`, 1440);
  await page.waitForFunction(() => part('.comparing .row-table'));
  assert.equal(await page.getByText('No weight of this head differs.').count(), 0);
});

for (const width of inTier([1440, 768, 360], [360]))
  test(`${width} px: without a text the page says what to do, and a button begins with a sentence`, async () => {
    await open('text=', width);
    await page.getByText('Nothing to read yet').waitFor();
    assert.ok(!(await page.locator('.prediction h2').isVisible()), 'no heading is empty');
    await assertAccessibleInFullTier();
    await page.getByRole('button', { name: 'Begin with a sentence' }).click();
    await page.waitForFunction(() => part('.picture .matrix'));
    assert.equal(await page.inputValue('.sentence textarea'), OPENING);
    assert.deepEqual(faults, []);
  });

for (const [width, locale, colorScheme] of inTier(
  [
    [1440, 'en-GB', 'light'],
    [1440, 'zh-CN', 'dark'],
    [360, 'en-GB', 'dark'],
    [360, 'zh-CN', 'light'],
  ],
  [[360, 'en-GB', 'light']],
))
  test(`${width} px, ${locale}, ${colorScheme}: the menu of exports is in sight, with every size`, async () => {
    await open('', width, { locale, colorScheme });
    await page.locator('.actions .menu button').first().click();
    const rows = page.locator('.actions .list .beside [role=menuitem]');
    await rows.first().waitFor();
    await assertAccessibleInFullTier();
    const boxes = await rows.evaluateAll((all) =>
      all.map((one) => {
        const { left, right, height, width } = one.getBoundingClientRect();
        return { name: one.getAttribute('aria-label') ?? one.textContent, left, right, height, width };
      }),
    );
    assert.ok(boxes.length >= 4);
    for (const { name, left, right, height, width: wide } of boxes)
      assert.ok(
        name && left >= 0 && right <= width && height >= 44 && wide >= 44,
        JSON.stringify({ name, left, right, height }),
      );
  });

for (const press of inTier(['click', 'Enter'], ['Enter']))
  test(`a view that covers the model is chosen by ${press}: its button keeps the focus`, async () => {
    await open('', 1440);
    const [flow, heatmap] = ['Flow', 'Heatmap'].map((name) => page.getByRole('button', { name, exact: true }));
    const choose = (word) => (press === 'click' ? word.click() : word.press(press));
    const focused = () => page.evaluate(() => part('.page').getRootNode().activeElement?.textContent);
    await choose(flow);
    await page.waitForFunction(() => part('.flow-drawing'));
    assert.equal(await focused(), 'Flow');
    await choose(heatmap);
    await page.waitForFunction(() => part('.picture .matrix'));
    assert.equal(await focused(), 'Heatmap');
  });

test('a head that is off: the reading says that its output is zero, and 0.00 has no sign', async () => {
  await open('scale=4.2%3A0', 1440);
  await page.waitForFunction(() => part('.reading .adds'));
  const mixture = page.locator('.strip').last();
  assert.match(await mixture.textContent(), /off.*output is zero/);
  assert.equal(await page.locator('.reading .adds b').textContent(), '0.00');
  // If every number is 0, a base line is drawn instead of the bars.
  assert.ok(await mixture.locator('.bars .line').count());
  await open(`patch=4.2%3A1&${PINNED}`, 1440);
  await page.waitForFunction(() => part('.reading .strip'));
  assert.match(await page.locator('.strip').last().textContent(), /from the pinned run/);
});

test('a head that is off: the title says that later layers, or the guess, run without it', async () => {
  for (const [head, missing] of [
    ['layer=3&head=1&scale=3.1%3A0', 'Later layers run without it'],
    ['layer=4&head=2&scale=4.2%3A0', 'The guess is made without it'],
  ]) {
    await open(head, 1440);
    await page.waitForFunction((missing) => part('.corner p')?.textContent.includes(missing), missing);
  }
});

test('tokens within a sentence are quoted', async () => {
  await open(`view=compare&versus=difference&scale=4.2%3A0&${PINNED_OPENING}`, 1440);
  await page.waitForFunction(() => part('.comparing .row-table'));
  assert.equal(await page.locator('.comparing h3 .query').textContent(), NAMES.at(-1));
  assert.equal(await page.locator('.comparing [data-name=adds] th i').count(), 1);
  await open('', 1440);
  spoil();
  await page.locator('.sort button').click();
  await page.locator('[data-key=ablate]').click();
  await page.waitForFunction(() => part('.ablation li'));
  assert.equal(await page.locator('.ablation .how i').textContent(), GUESS);
});

for (const press of inTier(['the address', 'More'], ['More']))
  test(`360 px: the table of all heads is opened by ${press}, and closed`, async () => {
    await open(press === 'More' ? '' : 'panel=table', 360, { isMobile: true, hasTouch: true });
    if (press === 'More') {
      await page.locator('.more-menu button').first().tap();
      await page.getByRole('menuitem', { name: 'All heads in a table' }).tap();
    }
    await page.locator('.sheet.open .heads-table td').first().waitFor();
    const top = await page.evaluate(() => part('.heads-table .title').getBoundingClientRect().top);
    assert.ok(top >= 0 && top < HEIGHTS[360], `${top}`);
    await assertAccessibleInFullTier();
    await page.locator('.heads-table').getByRole('button', { name: 'Close' }).tap();
    await page.waitForFunction(() => !part('.sheet.open'));
    await page.locator('.sheet-line').tap();
    await page.locator('.sheet.open .strip').first().waitFor();
    assert.deepEqual(faults, []);
  });
