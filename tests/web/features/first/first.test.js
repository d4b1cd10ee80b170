// Tests the first visit in Chromium: the steps, the keys, and the reduced screen after it.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { initialState } from '../../../../web/model/state.ts';
import { readLink } from '../../../../web/store/address.ts';
import {
  assertAccessible,
  assertNoSidewaysScroll,
  chooseMore,
  drawn,
  faults,
  openEmpty,
  page,
  server,
  share,
} from '../../../support/page.js';
import { fullTest, inTier } from '../../../support/tier.js';

const SIZES = { 2560: 1440, 1920: 1080, 1440: 900, 1366: 657, 768: 1024, 360: 740 };

async function visit(hash = '', { width = 1440, reducedMotion = 'no-preference', ...options } = {}) {
  const viewport = { width, height: SIZES[width] };
  await openEmpty({ firstVisit: true, viewport, locale: 'en-GB', reducedMotion, ...options });
  await page.goto(`${server.url}${hash}`);
  await page.waitForFunction(() => part('.first-sentence, .picture .matrix'));
}
const settled = () => page.waitForFunction(() => part('.page').dataset.busy === 'false');
const stepIs = (step) => page.waitForFunction((step) => part('.page').classList.contains(`first-${step}`), step);
const isOver = () => page.waitForFunction(() => part('.picture .matrix') && !part('.page').matches('.first'));
const go = () => page.locator('.go').click();
const theSwitch = () => page.getByRole('switch');
const text = (selector) => page.locator(selector).first().innerText();
const focused = () => page.evaluate(() => part('.page').getRootNode().activeElement?.textContent);

/**
 * Counts the visible controls and words on the screen, without numbers. Step labels that are drawn a second time are
 * not counted.
 */
const count = () =>
  page.evaluate(() => {
    const isSeen = (element) =>
      element.checkVisibility({ opacityProperty: true, visibilityProperty: true, contentVisibilityAuto: true }) &&
      element.getBoundingClientRect().width > 1;
    const controls = 'button, a[href], input, textarea, select, [role=listbox]';
    const texts = document.createTreeWalker(part('.page'), NodeFilter.SHOW_TEXT);
    let [words, least] = ['', Number.POSITIVE_INFINITY];
    while (texts.nextNode()) {
      const { textContent, parentElement } = texts.currentNode;
      if (!textContent.trim() || !isSeen(parentElement) || parentElement.closest('.cross, .labels .key-label'))
        continue;
      words += ` ${textContent}`;
      least = Math.min(least, Number.parseFloat(getComputedStyle(parentElement).fontSize));
    }
    return {
      controls: [...part('.page').querySelectorAll(controls)].filter(isSeen).length,
      words: words.split(/\s+/).filter((word) => /\p{L}/u.test(word)).length,
      least,
      text: words,
    };
  });

test('a first-time visitor sees one sentence, one arc, one switch, from the result that is shipped', async () => {
  await openEmpty({ firstVisit: true, viewport: { width: 1440, height: 900 }, locale: 'en-GB' });
  let goOn;
  await page.route('**/whale.safetensors', (route) => (goOn = () => route.continue()));
  await page.goto(server.url);
  await page.waitForFunction(() => part('.first-arc .line'));
  assert.equal(await page.evaluate(() => part('.page').dataset.busy), 'true', 'the model is not there yet');
  assert.match(
    await text('.first-text'),
    /^The model guesses .+:\s*this attention head\s+looked back,\s*found .+ earlier/,
  );
  const [word, guess] = await page.evaluate(() => ['.copied', '.guess-word'].map((name) => part(name).textContent));
  assert.equal(word, guess, 'the guess is the copied word');
  const again = await page.locator('.again').allTextContents();
  assert.equal(again.length, 2);
  assert.equal(again[0].toLowerCase(), again[1].toLowerCase());
  const { controls, words } = await count();
  assert.ok(controls === 4 && words <= 64, `${controls} controls, ${words} words`);
  // The switch works before the model is loaded.
  await theSwitch().click();
  await page.waitForFunction(() => part('.first-bars'));
  goOn();
  await settled();
  assert.match(await page.evaluate(() => location.hash), /first=1/);
  assert.deepEqual(faults, []);
});

test('the switch changes the guess, is announced, and keeps its place; on again all is as before', async () => {
  await visit('', { reducedMotion: 'reduce' });
  await settled();
  const place = () => theSwitch().boundingBox();
  const [before, at, guess] = [await text('.first-text'), await place(), await text('.first-text i')];
  assert.equal(await page.locator('.go.filled').count(), 0);
  await theSwitch().click();
  await settled();
  await page.waitForFunction(() => part('.first-sentence.off'));
  assert.deepEqual(await place(), at);
  assert.notEqual(await text('.first-text i'), guess);
  const [on, off] = (await page.locator('.first-bars b').allTextContents()).map((text) =>
    Number.parseFloat(text.replace('<', '')),
  );
  assert.ok(on > 50 && off < on / 5, `${on}, ${off}`);
  assert.match(await text('.spoken'), /^Head off\. The guess is now .+: \d+% with the head on, <?\d+% with it off\.$/);
  assert.equal(await page.locator('.go.filled').count(), 1);
  await page.waitForFunction(() => Number(getComputedStyle(part('.first-arc .line')).opacity) < 0.3);
  await page.keyboard.press('Space');
  await page.waitForFunction(() => part('.first-sentence:not(.off)'));
  assert.equal(await text('.first-text'), before);
  assert.deepEqual(await place(), at);
  // The arc is a second control of the same switch.
  await page.locator('.first-arc .handle').dispatchEvent('click');
  await page.waitForFunction(() => part('.first-sentence.off'));
});

test('each step is one press, what is shown keeps its place, and Back goes through the steps', async () => {
  await visit();
  await go();
  await stepIs(2);
  await settled();
  assert.equal(await focused(), 'Every word looks back');
  await page.waitForFunction(() => !part('.covers'));
  const shown = ['.picture .matrix', '.sentence .line', '.corner h2', '.legend .ramp', "[data-head='0.0'] .frame"];
  const places = () =>
    page.evaluate(
      (names) =>
        names.map((name) => {
          const { left, top, width, height } = part(name).getBoundingClientRect();
          return [left, top, width, height].map(Math.round).join(' ');
        }),
      shown,
    );
  const first = await places();
  assert.equal(await page.locator('.thumbnail').first().isVisible(), false);
  await go();
  await stepIs(3);
  assert.equal(await focused(), 'Twenty heads');
  assert.equal(await page.locator('.thumbnail').first().isVisible(), true);
  assert.equal(await page.locator('.whatif').isVisible(), false);
  assert.deepEqual(await places(), first);
  assert.match(await text('.go'), /^Why 0\.\d\d\?$/);
  await go();
  await isOver();
  await page.locator('.reading .strip').first().waitFor();
  assert.match(await focused(), /looks at/);
  await page.waitForFunction(() => !part('.from-first'));
  assert.deepEqual(await places(), first);
  for (const step of [3, 2, 0]) {
    await page.goBack();
    await stepIs(step);
  }
  await page.waitForFunction(() => part('.first-sentence'));
  assert.deepEqual(faults, []);
});

test('Skip, Escape, typing and a link lead to the instrument; it is remembered, and can be replayed', async () => {
  await visit();
  await page.getByRole('button', { name: 'Skip and show everything' }).click();
  await isOver();
  await page.goto(server.url);
  await page.reload();
  await isOver();
  await chooseMore('replay');
  await stepIs(0);
  await page.keyboard.press('Escape');
  await isOver();
  await visit();
  await page.keyboard.press('s');
  await isOver();
  await page.waitForFunction(() => part('.sentence textarea').value.endsWith('s'));
  await page.keyboard.type('ea');
  await page.waitForFunction(() => part('.sentence textarea').value.endsWith('sea'));
  await visit('#layer=1&head=1');
  await isOver();
  assert.deepEqual(faults, []);
});

fullTest('keys: Tab goes to the switch first, arrows and page keys go on and back', async () => {
  await visit();
  await page.keyboard.press('Tab');
  assert.equal(await page.evaluate(() => part('.page').getRootNode().activeElement.getAttribute('role')), 'switch');
  const order = [];
  for (let i = 0; i < 3; i++) {
    await page.keyboard.press('Tab');
    order.push(await page.evaluate(() => part('.page').getRootNode().activeElement.className.split(' ')[0]));
  }
  assert.deepEqual(order, ['go', 'word', 'word']);
  for (const [key, step] of [
    ['PageDown', 2],
    ['ArrowRight', 3],
    ['ArrowLeft', 2],
    ['ArrowLeft', 0],
  ]) {
    await page.keyboard.press(key);
    await stepIs(step);
  }
});

for (const width of inTier(Object.keys(SIZES).map(Number), [360]))
  for (const [locale, colorScheme] of inTier(
    [
      ['en-GB', 'light'],
      ['zh-CN', 'dark'],
    ],
    [width === 360 ? ['zh-CN', 'dark'] : ['en-GB', 'light']],
  ))
    test(`${width} px, ${locale}, ${colorScheme}: every step fits, is accessible and has large targets`, async () => {
      await visit('', { width, locale, colorScheme, reducedMotion: 'reduce' });
      await settled();
      for (const step of [0, 1, 2, 3]) {
        if (step === 1) await theSwitch().click();
        if (step > 1) await go();
        await stepIs(step);
        await settled();
        await drawn();
        await assertAccessible();
        await assertNoSidewaysScroll(`step ${step}`);
        const found = await page.evaluate(() => {
          const seen = [
            ...part('.page').querySelectorAll('.go, .word, .switch, .first-text, .first-bars, .first-result'),
          ]
            .filter((one) => one.checkVisibility({ visibilityProperty: true, opacityProperty: true }))
            .map((one) => ({ name: one.textContent || one.className, box: one.getBoundingClientRect() }));
          return {
            cut: seen.filter(({ box }) => box.left < 0 || box.right > innerWidth + 0.5).map(({ name }) => name),
            below: seen.filter(({ box }) => box.bottom > innerHeight + 0.5).map(({ name }) => name),
            oneLine: new Set([...(part('.first-sentence .letters')?.getClientRects() ?? [])].map(({ top }) => top))
              .size,
          };
        });
        assert.deepEqual(found.cut, [], `step ${step}`);
        // On a phone the last steps scroll.
        if (width > 560 || step < 2) assert.deepEqual(found.below, [], `step ${step}`);
        if (width >= 900 && step < 2) assert.equal(found.oneLine, 1, 'the sentence is in one line');
      }
      assert.deepEqual(faults, []);
    });

fullTest(
  'the last step says where to go on, until something changes; on a phone it opens the calculation',
  async () => {
    for (const width of [1440, 360]) {
      await visit('#first=3', { width });
      await stepIs(3);
      await page.waitForFunction(() => part('.go'));
      assert.equal(await page.locator('.closing').count(), 0);
      await go();
      await isOver();
      await page.locator('.closing').waitFor();
      assert.match(await text('.closing'), /first minute.*Story.*Train/s);
      assert.match(await text('.reading'), /softmax/);
      const [end, line] = await page.evaluate(() =>
        ['.closing', '.whatif'].map((selector) => part(selector).getBoundingClientRect()),
      );
      assert.ok(end.bottom <= line.top + 1, `${end.bottom} of ${line.top}`);
      await assertNoSidewaysScroll(`${width} px`);
      await page.keyboard.press(']');
      await page.waitForFunction(() => !part('.closing'));
    }
    for (const [word, panel] of [
      ['story', 'story'],
      ['train', 'train'],
    ]) {
      await page.locator(`.header .${word}-word`).click();
      await page.waitForFunction((panel) => location.hash.includes(`panel=${panel}`), panel);
    }
    await page.locator('.train-word').click();
    await page.waitForFunction(() => !/panel|model/.test(location.hash) && part('.picture .matrix'));
    assert.deepEqual(faults, []);
  },
);

fullTest('a copied link to the initial state leads a new visitor to the instrument', async () => {
  await visit('', { permissions: ['clipboard-read', 'clipboard-write'] });
  await page.keyboard.press('Escape');
  await isOver();
  await share('Copy link');
  await page.waitForFunction(() => part('.actions').textContent.includes('Copied'));
  const link = await page.evaluate(() => navigator.clipboard.readText());
  assert.ok(link.startsWith(server.url) && !link.endsWith('#'), link);
  await visit(link.slice(server.url.length));
  await isOver();
  assert.deepEqual(readLink(link.split('#')[1]), initialState);
});

fullTest('the menu More leads to documentation, source and licence', async () => {
  await openEmpty({ viewport: { width: 1440, height: 900 }, locale: 'en-GB' });
  await page.goto(server.url);
  await isOver();
  await page.locator('.more-menu button').first().click();
  const links = await page
    .locator('.more-menu a')
    .evaluateAll((all) => all.map(({ href, textContent }) => [textContent, href]));
  const { repository } = JSON.parse(readFileSync(new URL('../../../../package.json', import.meta.url), 'utf8'));
  assert.deepEqual(links, [
    ['Documentation', `${server.url}docs/index.html`],
    ['Source', repository.url.replace(/^git\+|\.git$/g, '')],
    ['Licence', `${server.url}licences.txt`],
  ]);
  const licence = await page.evaluate(async () => (await fetch('licences.txt')).text());
  assert.match(licence, /^Headlight .*MIT License/s);
});

// The story, training and pinning have a place of their own, not in menus.
test('1440 × 900: the instrument has at most 38 controls and 124 words, none smaller than 13 px', async () => {
  await openEmpty({ viewport: { width: 1440, height: 900 }, locale: 'en-GB' });
  await page.goto(server.url);
  await isOver();
  await settled();
  await page.waitForFunction(() => part('.role-name') && part('.prediction .tick') && part('.reading .adds'));
  await page.mouse.move(720, 895);
  await drawn();
  const { controls, words, least, text } = await count();
  assert.ok(controls >= 30 && controls <= 38, `${controls} controls`);
  assert.ok(words >= 60 && words <= 124, `${words} words: ${text}`);
  assert.ok(least >= 13, `${least} px`);
});
