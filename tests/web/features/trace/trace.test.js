// Tests the view Trace in Chromium, which shows where the answer of two sentences changes, by mouse and by keyboard.

import assert from 'node:assert/strict';
import test from 'node:test';
import { logitDifference, patchGrid } from 'headlight-attention/analysis';
import {
  assertAccessible,
  assertAccessibleInFullTier,
  download,
  drawn,
  faults,
  openAt,
  page,
  share,
} from '../../../support/page.js';
import { fullTest } from '../../../support/tier.js';
import {
  hashOf,
  isWhole,
  percent,
  placeOf,
  SHIP,
  said,
  sharesOf,
  T,
  tokenizer,
  WHALE,
  WORDS,
  whale,
} from '../../../support/trace.js';

test('by mouse: a question, the grid, a cell that returns the answer, and the instrument with its patch', async () => {
  await openAt('view=trace');
  await page.locator('.trace-begin button[data-task=induction]:not([disabled])').click();
  await isWhole();
  const [upper, lower] = await page.locator('.trace-row .answers .first').allTextContents();
  assert.deepEqual([upper, lower], ['ship', 'whale']);
  assert.deepEqual(await page.locator('.tokens .differs').allTextContents(), ['ship', 'whale']);
  assert.match(await page.textContent('.trace-progress'), /^105 places, 20 heads$/);
  assert.match(
    await page.textContent('.trace-summary'),
    /^At the input of every layer the answer is at whale\. In layer 4, head 4\.2 carries it to the\.$/,
  );
  await assertAccessibleInFullTier();
  await page.locator('.trace-tasks > button').click();
  const open = await page
    .locator('.trace-tasks [data-key]:not([aria-disabled=true])')
    .evaluateAll((all) => all.map((one) => one.dataset.key));
  assert.ok(open.includes('induction') && open.length > 1, open.join());
  await page.locator('.trace-tasks > button').click();
  const share = await sharesOf(SHIP, WHALE, ['ship', 'whale']);
  // Points at the heads of the top layer at the last token, which are in the second row of the layer.
  const at = await placeOf('tokens', { row: 0.55, rows: 5, column: 6, columns: 7 });
  await page.mouse.move(at.x, at.y);
  const heads = percent(share('heads', 4, T - 1));
  await page.waitForFunction(
    (text) => part('.tracing .share')?.textContent === text,
    `${heads}% of the answer returns`,
  );
  assert.match(await page.textContent('.trace-about'), /^when the heads of layer 4 write the same at the as in/);
  assert.equal(await page.locator('.patched').count(), 0);
  await page.mouse.click(at.x, at.y);
  await page.locator('.patched').waitFor();
  assert.match(await page.textContent('.patched'), /patched heads of layer 4 at “the \(\d+\)”/);
  const first = await page.locator('.trace-heads li').first().allInnerTexts();
  assert.match(first[0].replace(/\s+/g, ' '), new RegExp(`^4\\.2 ${percent(share('head', 4, 2))}$`));
  await assertAccessibleInFullTier();
  const shown = await page.locator('.trace-guesses b').allTextContents();
  await page.getByRole('button', { name: 'Open the instrument here' }).click();
  await page.waitForFunction(() => part('.picture .matrix') && part('.page').dataset.busy === 'false');
  // The page shows the same prediction as the trace, and the patch can be undone there.
  const ship = page.locator('.prediction .option', { hasText: 'ship' }).first();
  assert.equal(await ship.locator('b').textContent(), shown[0]);
  await page.locator('.patched button').click();
  await page.waitForFunction(() => !part('.patched'));
  assert.deepEqual(faults, []);
});

fullTest('a pinned run with another text offers the trace, and its patched cell the circuit', async () => {
  const pinned = new URLSearchParams(hashOf(SHIP, SHIP)).get('pinned');
  const withPin = (text) => `text=${encodeURIComponent(text)}&pinned=${encodeURIComponent(pinned)}`;
  await openAt(withPin(SHIP));
  await page.locator('.prediction .other .mark').waitFor();
  assert.equal(await page.locator('.trace-offer').count(), 0, 'the same text');
  await openAt(withPin(WHALE));
  const offer = page.getByRole('button', { name: 'Where does the answer change?' });
  // Even in a low window, the whole button is visible, between the predictions and the menu of models.
  for (const height of [900, 657]) {
    await page.setViewportSize({ width: 1366, height });
    await drawn();
    const ends = await page.evaluate(() => {
      const box = (name) => part(name).getBoundingClientRect();
      return [
        box('.option:last-child').bottom,
        box('.trace-offer').top,
        box('.trace-offer').bottom,
        box('.prediction').bottom,
      ];
    });
    assert.deepEqual(
      ends.toSorted((a, b) => a - b),
      ends,
      `${height} px`,
    );
  }
  await offer.click();
  await isWhole();
  const sentences = await page.locator('.trace-row .tokens').allTextContents();
  assert.deepEqual(await page.locator('.tokens .differs').allTextContents(), ['ship', 'whale']);
  assert.match(sentences[0], /ship/, 'the pinned text is above');
  assert.equal(await page.getByRole('button', { name: /Circuit/ }).count(), 0, 'no cell is chosen');
  const at = await placeOf('tokens', { row: 0.55, rows: 5, column: 6, columns: 7 });
  await page.mouse.click(at.x, at.y);
  await page.getByRole('button', { name: 'Which lines carry it? Circuit' }).click();
  await page.waitForFunction(() => part('.circuit-list li'));
  assert.match(await page.textContent('.circuit-about'), /lead of whale/);
  const { hash } = new URL(page.url());
  assert.match(hash, /view=flow/);
  assert.doesNotMatch(hash, /patch=/, 'the sentence runs as it is');
  await page.goBack();
  await page.locator('.patched').waitFor();
  assert.deepEqual(faults, []);
});

fullTest('by keyboard: arrows walk the grid and are spoken, p patches, Enter opens, Escape closes', async () => {
  const share = await sharesOf(SHIP, WHALE, ['ship', 'whale']);
  const returns = (place) => new RegExp(`: ${percent(share(...place))}% returns\\.$`);
  await openAt(hashOf(SHIP, WHALE, WORDS));
  await isWhole();
  await page.locator('#picture').focus();
  await page.keyboard.press('ArrowDown');
  await said(/^Layer 4, stream, at “the”: /);
  await said(returns(['stream', 4, T - 1]));
  await page.keyboard.press('Shift+ArrowDown');
  await said(/^Layer 4, heads, at “the”: /);
  await said(returns(['heads', 4, T - 1]));
  await page.keyboard.press('ArrowRight');
  await said(/^Layer 4, head 0: /);
  for (const key of ['ArrowRight', 'ArrowRight']) await page.keyboard.press(key);
  await said(/^Layer 4, head 2: /);
  await said(returns(['head', 4, 2]));
  await page.keyboard.press('p');
  await said(/^Patched\. ship: \d+%, before \d+%\.$/);
  await page.locator('.trace-frame.chosen').waitFor();
  await page.waitForFunction(() => location.hash.includes('patch=4.2'));
  await page.keyboard.press('Escape');
  await page.waitForFunction(() => !part('.trace-frame.pointed') && part('.trace-frame.chosen'));
  await page.keyboard.press('Escape');
  await said(/^The patch is undone\.$/);
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => part('.picture .matrix') && location.hash.includes('patch=stream.4.'));
  await page.goBack();
  await page.waitForFunction(() => part('.trace-grid'));
  await isWhole();
  await page.locator('#picture').focus();
  await page.keyboard.press('Escape');
  await page.waitForFunction(() => part('.picture .matrix'));
  assert.deepEqual(faults, []);
});

fullTest('two sentences of the visitor are written by keyboard, of different lengths too', async () => {
  await openAt('view=trace');
  const own = page.locator('.trace-begin button[data-task=own]');
  await own.focus();
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => part('.trace-field input:focus'));
  await page.keyboard.press('Control+A');
  await page.keyboard.type('They gave the old captain to me. They gave the');
  await page.keyboard.press('Enter');
  await page.locator('.trace-row.lower .side').focus();
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => part('.trace-row.lower input:focus'));
  await page.keyboard.press('Control+A');
  await page.keyboard.type(SHIP);
  await page.keyboard.press('Enter');
  await isWhole();
  assert.deepEqual(await page.locator('.tokens .differs').allTextContents(), ['old', 'captain', '·', 'ship']);
  assert.equal(await page.locator('.tokens .missing').count(), 1);
  await assertAccessible();
  assert.deepEqual(faults, []);
});

fullTest('files: CSV with every place, SVG with its title, and a program that measures the same shares', async () => {
  await openAt(hashOf(SHIP, WHALE, WORDS));
  await isWhole();
  const save = async (name) => String((await download(() => share(name))).bytes);
  const shares = await sharesOf(SHIP, WHALE, ['ship', 'whale']);
  const [titles, ...lines] = (await save('Numbers, CSV')).trim().split('\r\n');
  assert.equal(titles, 'part,layer,token,word,head,share,score,p(ship),p(whale)');
  assert.equal(lines.length, 5 * (3 * T + 4));
  for (const line of lines) {
    const [part, layer, token, , head, number] = line.split(',');
    const wanted = shares(part, Number(layer), Number(part === 'head' ? head : token));
    assert.ok(Math.abs(Number(number) - wanted) < 1e-4, line);
  }
  const svg = await save('Drawing, SVG');
  assert.match(svg, /<title>Where the answer changes between two sentences<\/title>/);
  assert.ok(svg.match(/<rect /g).length > 105);
  const program = await save('Program in JavaScript');
  assert.ok(program.trim().split('\n').length <= 10, program);
  const printed = [];
  const body = program
    .replace(/^import .*$/gm, '')
    .replace('await load()', 'given')
    .replaceAll('console.log(', 'print(');
  const AsyncFunction = Object.getPrototypeOf(async () => {}).constructor;
  const model = {
    options: whale.options,
    tokenizer,
    forward: (text, options) => whale.forward(tokenizer.encode(text).ids, options),
  };
  const given = { openModel: async () => model };
  await new AsyncFunction('given', 'print', 'patchGrid', 'logitDifference', body)(
    given,
    (...values) => printed.push(values),
    patchGrid,
    logitDifference,
  );
  assert.deepEqual(
    printed.map(([part]) => part),
    ['stream', 'heads', 'mlp', 'head'],
  );
  const [, { data, shape }] = printed[1];
  assert.ok(Math.abs(data[4 * shape[1] + T - 1] - shares('heads', 4, T - 1)) < 1e-4);
  assert.deepEqual(faults, []);
});
