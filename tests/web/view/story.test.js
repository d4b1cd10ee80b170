// The story from its first step to its last in Chromium: with the pointer and with the keyboard alone, on a screen and
// on a phone. Its numbers are those that stand on the page.

import assert from 'node:assert/strict';
import test from 'node:test';
import { assertAccessible, assertNoSidewaysScroll, faults, openEmpty, page, server } from '../../support/page.js';

const SCREEN = { width: 1440, height: 900 };
const PHONE = { width: 360, height: 740 };

const settled = () => page.waitForFunction(() => part('.page')?.dataset.busy === 'false');
const stepIs = (step) => page.waitForFunction((n) => part('.story')?.dataset.step === String(n), step);
const textOf = async (selector) => (await page.locator(selector).allTextContents()).join(' ');
/** Until so many tasks of the step have their text of what was seen. */
const seen = async (tasks = 1) => {
  await page.waitForFunction((n) => part('.story').querySelectorAll('.seen').length >= n, tasks);
  await settled();
};
const percentOf = async (token) =>
  page.evaluate(
    (name) =>
      [...part('.prediction').querySelectorAll('li')]
        .find((li) => li.querySelector('.token').textContent === name)
        ?.querySelector('b').textContent,
    token,
  );

async function start(viewport, { colorScheme = 'light', language = 'en', touch = false } = {}) {
  await openEmpty({ viewport, colorScheme, hasTouch: touch, locale: language === 'zh' ? 'zh-CN' : 'en-GB' });
  await page.goto(server.url);
  await settled();
}

/** What a visitor does, with a pointer. */
const POINTER = {
  // The what-if line may lie over what stands low on a phone: one scrolls, then presses.
  async press(selector) {
    await page.locator(selector).evaluate((element) => element.scrollIntoView({ block: 'center' }));
    await page.locator(selector).click();
  },
  async write(text) {
    await page.locator('textarea').click();
    await page.keyboard.press('End');
    await page.keyboard.type(text);
  },
  token: () => page.locator('.tokens button', { hasText: 'ple' }).click(),
  async row(t) {
    const { width, height } = await page.locator('#picture').boundingBox();
    await page.locator('#picture').click({ position: { x: width / 34, y: ((t + 0.5) * height) / 17 } });
  },
  async warm() {
    const { width, height } = await page.locator('.whatif input').boundingBox();
    await page.locator('.whatif input').click({ position: { x: width - 8, y: height / 2 } });
  },
  async unmask(phone) {
    if (phone) await page.locator('.dots').click();
    await page.locator('.whatif .menu > button').first().click();
    await page.locator('.whatif [role=menuitemradio]').nth(1).click();
    if (phone) await page.locator('.dots').click();
  },
  async choose(key) {
    await page.locator('.model-menu > button').click();
    await page.locator(`.model-menu [data-key=${key}]`).click();
  },
  head: (layer, head) => POINTER.press(`[data-head='${layer}.${head}']`),
};

/** Tab until the focus is where it should be. */
async function tabTo(selector) {
  for (let i = 0; i < 200; i++) {
    const there = await page.evaluate(
      (wanted) => document.activeElement?.shadowRoot?.activeElement?.matches(wanted) ?? false,
      selector,
    );
    if (there) return;
    await page.keyboard.press('Tab');
  }
  assert.fail(`the keyboard does not reach ${selector}`);
}
const keys = async (...list) => {
  for (const key of list) await page.keyboard.press(key);
};
const times = (n, key) => Array(n).fill(key);

/** The same, with the keyboard alone. */
const KEYBOARD = {
  async press(selector) {
    await tabTo(selector);
    await keys('Enter');
  },
  async write(text) {
    await tabTo('textarea');
    await keys('End');
    await page.keyboard.type(text);
  },
  async token() {
    await tabTo('.tokens button');
    await keys(...times(9, 'ArrowLeft'));
  },
  async row(t) {
    await tabTo('#picture');
    await keys(...times(16 - t, 'ArrowUp'));
  },
  async warm() {
    await tabTo('.whatif input');
    await keys('End');
  },
  async unmask(phone) {
    if (phone) await KEYBOARD.press('.dots');
    await KEYBOARD.press('.whatif .menu > button');
    await page.waitForFunction(() => part('.whatif [aria-checked=true]:focus'));
    await keys('ArrowDown', 'Enter');
  },
  async choose(key) {
    await KEYBOARD.press('.model-menu > button');
    await page.waitForFunction(() => part('.model-menu [role^=menuitem]:focus'));
    for (let i = 0; i < 20; i++) {
      if (await page.evaluate((name) => part(`.model-menu [data-key=${name}]:focus`) !== null, key)) break;
      await keys('ArrowDown');
    }
    await keys('Enter');
  },
  async head(layer, head) {
    await tabTo('.thumbnail[aria-checked=true]');
    const [l, h] = await page.evaluate(() => part('.thumbnail[aria-checked=true]').dataset.head.split('.').map(Number));
    await keys(...times(Math.abs(layer - l), layer > l ? 'ArrowUp' : 'ArrowDown'));
    await keys(...times(Math.abs(head - h), head > h ? 'ArrowRight' : 'ArrowLeft'));
  },
};

/** The whole story. `look` is called when a step has begun and when it is done. */
async function follow(hand, phone, look) {
  const begun = async (step) => {
    await stepIs(step);
    await settled();
    await look(step, false);
  };
  const next = async (step) => {
    await look(step, true);
    await hand.press('.steps > button:last-of-type');
    await begun(step + 1);
  };
  const off = '.whatif .choice button:last-of-type';
  if (phone) await hand.choose('story');
  else await hand.press('.story-word');
  await begun(1);

  await hand.write(' whale');
  await seen();
  assert.ok((await textOf('.seen')).includes(await textOf('.prediction li:first-child .token')));
  await next(1);

  await hand.token();
  await seen();
  assert.match(await textOf('.seen'), /grapple.*3.*gr · ap · ple.*\d+ · \d+ · \d+/);
  await next(2);

  await hand.row(11);
  await seen();
  assert.match(await textOf('.seen'), /Moby.* 0\.\d\d.*1\.00/);
  await next(3);

  const before = await textOf('[data-name=story-weight]');
  await hand.warm();
  await seen();
  const after = await textOf('[data-name=story-weight]');
  assert.ok((await textOf('.seen')).includes(before) && (await textOf('.seen')).includes(after));
  assert.ok(Number(after) < Number(before) / 2);
  await next(4);

  const first = await textOf('[data-name=head-adds]');
  await hand.press('.prediction li:nth-child(2) button');
  await seen();
  const second = await textOf('[data-name=head-adds]');
  assert.notEqual(first, second);
  assert.ok((await textOf('.seen')).includes(first) && (await textOf('.seen')).includes(second));
  await next(5);

  await hand.unmask(phone);
  await seen();
  assert.match(await textOf('.seen'), /last.*86%/);
  await next(6);

  assert.equal((await textOf('.trade')).match(/induction|previous|归纳|前一个/), null, 'no name before it is found');
  await hand.head(3, 3);
  await seen(1);
  await hand.head(4, 2);
  await seen(2);
  await next(7);

  const whole = await percentOf('I');
  await hand.press(off);
  await seen(1);
  const fallen = await percentOf('I');
  assert.ok((await textOf('.seen')).includes(whole) && (await textOf('.seen')).includes(fallen));
  assert.equal(await textOf("[data-head='4.2'] .trade"), '−85');
  await hand.head(1, 2);
  await hand.press(off);
  await seen(2);
  assert.equal(await textOf("[data-head='1.2'] .trade"), '0');
  assert.equal(await page.locator('.thumbnail.off').count(), 1, 'one head at a time');
  await next(8);

  await hand.press('.act');
  await page.waitForFunction(() => !part('.story'));
  await page.waitForFunction(() => /panel=train/.test(location.hash));
  if (phone) await hand.choose('story');
  else await hand.press('.story-word');
  await stepIs(9);
  await seen();
  await look(9, true);
  await hand.press('.steps > button:last-of-type');
  await page.waitForFunction(() => !part('.story'));
}

const looksRight = (phone) => async (step, isDone) => {
  if (isDone || step === 1) await assertAccessible();
  await assertNoSidewaysScroll(`step ${step}`);
  const { bottom, height } = await page.evaluate(() => {
    const box = part('.steps').getBoundingClientRect();
    return { bottom: box.bottom, height: part('.right')?.getBoundingClientRect().bottom };
  });
  if (!phone) assert.ok(bottom <= height + 1, `step ${step}: Next stands at ${bottom} of ${height}`);
};

for (const [hands, hand, size, viewport, options] of [
  ['pointer', POINTER, 'a screen', SCREEN, {}],
  ['pointer', POINTER, 'a phone', PHONE, { colorScheme: 'dark', language: 'zh', touch: true }],
  ['keyboard', KEYBOARD, 'a screen', SCREEN, { colorScheme: 'dark', language: 'zh' }],
  ['keyboard', KEYBOARD, 'a phone', PHONE, {}],
]) {
  test(`the story is followed to its end with the ${hands} on ${size}; axe finds nothing at any step`, async () => {
    await start(viewport, options);
    await follow(hand, viewport === PHONE, looksRight(viewport === PHONE));
    assert.deepEqual(faults, []);
  });
}

test('the story is left anywhere and gone on with; a step can be undone; the address keeps it', async () => {
  await start(SCREEN);
  await page.click('.story-word');
  await page.click('.steps li:nth-child(3) button');
  await stepIs(3);
  assert.equal(await page.evaluate(() => part('h2:focus')?.id), 'story-title', 'what is read first has the focus');
  await page.click('.story-word');
  await page.waitForFunction(() => part('.reading'));
  await page.click('.story-word');
  await stepIs(3);
  await page.click('.steps li:nth-child(4) button');
  await stepIs(4);
  await page.evaluate(() => part('h2:focus').blur());
  await page.keyboard.press('Control+z');
  await stepIs(3);
  await page.waitForFunction(() => /step=3/.test(location.hash));
  await page.reload();
  await stepIs(3);
  await settled();
});

test('query and key fall on their product once, and not at all with reduced motion', async () => {
  await start(SCREEN);
  await page.click('.story-word');
  await page.click('.steps li:nth-child(4) button');
  await page.waitForSelector('.ghost', { state: 'attached' });
  await page.click('.steps li:nth-child(3) button');
  await page.click('.steps li:nth-child(4) button');
  await page.waitForSelector('.strips');
  assert.equal(await page.locator('.ghost').count(), 0);

  await openEmpty({ viewport: SCREEN, reducedMotion: 'reduce' });
  await page.goto(`${server.url}#panel=story&step=4`);
  await settled();
  await page.waitForSelector('.strips');
  assert.equal(await page.locator('.ghost').count(), 0);
});
