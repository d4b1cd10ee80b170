// Tests behaviour that visitors expect of any page: Back and Forward, a question before work is lost, a reload that
// keeps the state, and files that are dropped or pasted anywhere.

import assert from 'node:assert/strict';
import test from 'node:test';
import { writeNpy } from 'headlight-attention/formats';
import {
  chooseKind,
  chooseMore,
  faults,
  headSwitch,
  openAt,
  openEmpty,
  openTraining,
  page,
  server,
  spoil,
} from '../../support/page.js';
import { fullTest } from '../../support/tier.js';
import { attentions } from '../../support/weights_file.js';

const settled = () => page.waitForFunction(() => part('.page')?.dataset.busy === 'false');
async function open(hash = '', options = {}) {
  await openAt(hash, options);
  await settled();
}
const shows = (selector, text) =>
  page.waitForFunction(([selector, text]) => part(selector)?.textContent.includes(text), [selector, text]);
const word = (name) => page.getByRole('button', { name, exact: true });
const entries = () => page.evaluate(() => history.length);

const weights = [...writeNpy(attentions([3, 2, 5, 5], true))];
/** Simulates that a file is dropped or pasted. */
const give = (kind, selector, bytes, name = 'attentions.npy') =>
  page.evaluate(
    ([kind, selector, bytes, name]) => {
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File([new Uint8Array(bytes)], name));
      const options = { dataTransfer, clipboardData: dataTransfer, cancelable: true, bubbles: true, composed: true };
      part(selector).dispatchEvent(kind === 'drop' ? new DragEvent(kind, options) : new ClipboardEvent(kind, options));
    },
    [kind, selector, bytes, name],
  );

fullTest('Back and Forward go through views, panels and steps of the story', async () => {
  await open();
  const before = await entries();
  await chooseKind('lines');
  await page.waitForFunction(() => part('svg.lines') !== null);
  await word('Story').click();
  await shows('.story h2', 'Three questions');
  await page.evaluate(() => [...part('.steps').querySelectorAll('button')].at(-1).click());
  await page.waitForFunction(() => part('.story')?.dataset.step === '1');
  assert.equal(await entries(), before + 3);
  await page.goBack();
  await page.waitForFunction(() => part('.story')?.dataset.step === '11');
  await page.goBack();
  await page.waitForFunction(() => part('.story') === null && part('svg.lines') !== null);
  await page.goBack();
  await page.waitForFunction(() => part('.picture .matrix') !== null);
  await page.goForward();
  await page.waitForFunction(() => part('svg.lines') !== null);
  assert.deepEqual(faults, []);
});

test('Back passes over letters, and goes through heads and changes', async () => {
  // Opens a new page, which has no later history entries. The next new entry would remove them, and the number of
  // entries would be wrong.
  await open('', { fresh: true });
  const before = await entries();
  await page.locator('textarea').fill('Call me Ishmael. Call me');
  await settled();
  await page.locator("[data-head='0.0']").click();
  await headSwitch().click();
  await chooseKind('lines');
  await page.waitForFunction(() => part('svg.lines') !== null);
  assert.equal(await entries(), before + 3);
  await page.goBack();
  await page.waitForFunction(() => part('.picture .matrix') !== null);
  assert.match(await page.evaluate(() => location.hash), /scale=0\.0%3A0/);
  await page.goBack();
  await shows('.corner h2', 'Layer 0, head 0');
  await page.waitForFunction(() => !location.hash.includes('scale'));
  await page.goBack();
  await shows('.corner h2', 'Layer 4, head 2');
  assert.equal(await page.locator('textarea').inputValue(), 'Call me Ishmael. Call me');
});

test('the way to Chinese is drawn, as not every machine has letters for its name', async () => {
  await open();
  await page.locator('.more-menu button').first().click();
  const button = page.locator('.more-menu [data-key=language]');
  assert.equal(await button.textContent(), '');
  assert.equal(await button.getAttribute('aria-label'), '中文');
  const { width, height } = await button.locator('svg').boundingBox();
  assert.ok(width >= 20 && height >= 10, `${width} × ${height}`);
});

test('who writes while the model writes on is not written over, and neither is who undoes', async () => {
  await open();
  const begin = () =>
    page.evaluate(() => {
      [...part('.sentence').querySelectorAll('button')].find(({ textContent }) => textContent === 'write on').click();
    });
  await begin();
  await page.evaluate(() => {
    const field = part('textarea');
    field.value = 'Call me';
    field.dispatchEvent(new InputEvent('input', { bubbles: true }));
  });
  await word('write on').waitFor();
  await settled();
  assert.equal(await page.locator('textarea').inputValue(), 'Call me');
  await begin();
  await page.waitForFunction(() => part('textarea').value.length > 7);
  await page.keyboard.press('Control+z');
  await word('write on').waitFor();
  await settled();
  assert.equal(await page.locator('textarea').inputValue(), 'Call me');
  assert.deepEqual(faults, []);
});

test("the system's colours are followed, until others are chosen here", async () => {
  await open();
  spoil();
  const theme = (name) =>
    page.waitForFunction((name) => document.querySelector('body > div').dataset.theme === name, name);
  await page.emulateMedia({ colorScheme: 'dark' });
  await theme('dark');
  await page.emulateMedia({ colorScheme: 'light' });
  await theme('light');
  await chooseMore('theme');
  await theme('dark');
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.emulateMedia({ colorScheme: 'light' });
  await theme('dark');
});

test('leaving is asked about while a model is open that would be lost, and not otherwise', async () => {
  await open();
  spoil();
  const asked = () =>
    page.evaluate(() => {
      const event = new Event('beforeunload', { cancelable: true });
      window.dispatchEvent(event);
      return event.defaultPrevented;
    });
  assert.equal(await asked(), false);
  await give('drop', '.picture', weights);
  await shows('.model-menu .under', 'attentions.npy');
  assert.equal(await asked(), true);
  await page.goBack();
  await shows('.model-menu .under', 'Moby');
  assert.equal(await asked(), true);
  await page.goForward();
  await shows('.model-menu .under', 'attentions.npy');
  await word('Remove it from memory').click();
  await shows('.model-menu .under', 'Moby');
  assert.equal(await asked(), false);
});

fullTest('Back to a model that is closed says so and shows the whale: one is not caught there', async () => {
  await open();
  spoil();
  await give('drop', '.picture', weights);
  await shows('.model-menu .under', 'attentions.npy');
  await word('Remove it from memory').click();
  await shows('.model-menu .under', 'Moby');
  await settled();
  await page.goBack();
  await shows('.open', 'Open it again');
  await shows('.model-menu .under', 'Moby');
  const [now] = [await page.evaluate(() => location.hash)];
  await page.goBack();
  await settled();
  assert.doesNotMatch(now + (await page.evaluate(() => location.hash)), /opened/);
  await shows('.model-menu .under', 'Moby');
});

fullTest('a model in training that the browser cannot keep is asked about', async () => {
  await openEmpty({ viewport: { width: 1440, height: 900 }, locale: 'en-GB' });
  // Makes the storage of the worker full.
  await page.route('**/*.js', async (route) => {
    const response = await route.fetch();
    const body = await response.text();
    const full = `if (typeof IDBObjectStore !== 'undefined') IDBObjectStore.prototype.put = () => {
      throw new DOMException('full', 'QuotaExceededError'); };`;
    await route.fulfill({ response, body: /worker|begin/.test(route.request().url()) ? full + body : body });
  });
  await page.goto(server.url);
  await settled();
  await openTraining();
  // Waits for the first step, because before it there is nothing to lose.
  await page.waitForFunction(() => Number(part('.time input')?.value) >= 1);
  await word('Pause').click();
  await shows('.page', 'no room left');
  // The page asks before it is left, as soon as it has drawn the message.
  await page.waitForFunction(() => {
    const event = new Event('beforeunload', { cancelable: true });
    window.dispatchEvent(event);
    return event.defaultPrevented;
  });
});

fullTest(
  'files are dropped on training and pasted anywhere; JSON is pasted outside of a text, in it as text',
  async () => {
    await open('panel=train');
    spoil();
    await give('drop', '.film, .right', weights);
    await shows('.model-menu .under', 'attentions.npy');
    await page.goBack();
    await page.waitForFunction(() => part('.page').classList.contains('training'));
    await give('paste', '.page', weights, 'pasted.npy');
    await shows('.model-menu .under', 'pasted.npy');
    await page.goBack();
    await page.waitForFunction(() => part('.page').classList.contains('training'));
    const text = JSON.stringify([
      [1, 0],
      [0.5, 0.5],
    ]);
    const pasteText = (selector) =>
      page.evaluate(
        ([selector, text]) => {
          const clipboardData = new DataTransfer();
          clipboardData.setData('text', text);
          const event = new ClipboardEvent('paste', { clipboardData, cancelable: true, bubbles: true, composed: true });
          part(selector).dispatchEvent(event);
          return event.defaultPrevented;
        },
        [selector, text],
      );
    assert.equal(await pasteText('.page'), true);
    await shows('.model-menu .under', 'pasted');
    await page.locator('.model-menu .word').click();
    await page.getByRole('menuitemradio', { name: /^Moby/ }).click();
    await page.locator('textarea').waitFor();
    assert.equal(await pasteText('textarea'), false);
  },
);

test('a reload keeps theme and language', async () => {
  await open();
  spoil();
  await chooseMore('language');
  await chooseMore('theme');
  const theme = () => page.evaluate(() => document.querySelector('body > div').dataset.theme);
  const chosen = await theme();
  await page.reload();
  await settled();
  assert.equal(await page.evaluate(() => document.documentElement.lang), 'zh-Hans');
  assert.equal(await theme(), chosen);
  assert.equal(chosen, 'dark');
});

fullTest(
  'without a text there is nothing to try; a picture that is left between two frames is left in peace',
  async () => {
    await open();
    await page.locator('textarea').fill('');
    await settled();
    await page.locator('.nothing').waitFor();
    assert.equal(await page.locator('.sort').count(), 0);
    await page.locator('textarea').fill('To the last');
    await settled();
    await page.locator('.sort button').click();
    await page.locator('[data-key=ablate]').waitFor();
    await page.keyboard.press('Escape');
    // Changes the view while another head fades in.
    for (let round = 0; round < 4; round++) {
      await page.locator(`[data-head='${round}.1']`).click();
      await settled();
      for (const name of ['lines', 'heatmap']) await chooseKind(name);
      await page.evaluate(() => (location.hash += '&text='));
      await page.evaluate(() => history.back());
    }
    await settled();
    assert.deepEqual(faults, []);
  },
);

fullTest('stored values that this version of the page does not know are ignored', async () => {
  await openEmpty();
  spoil();
  await page.addInitScript(() => {
    for (const name of ['theme', 'language', 'story', 'atlas', 'first']) localStorage.setItem(name, 'constructor');
  });
  await page.goto(server.url);
  await settled();
  assert.match(await page.evaluate(() => document.querySelector('body > div').dataset.theme), /^(light|dark)$/);
  assert.deepEqual(faults, []);
});
