// Tests in Chromium what the page shows while a run is awaited, and after it has failed. The worker's answers are held
// back until the test releases them. After every frame, what is shown must belong to one run or be marked as old.

import assert from 'node:assert/strict';
import test, { beforeEach } from 'node:test';
import { LAST } from '../../../support/opening.js';
import { assertNoSidewaysScroll, openEmpty, page, server } from '../../../support/page.js';
import { fullTest } from '../../../support/tier.js';

const TEXT = 'The ship was old, and the ship was';

/** Makes workers hold back what they answer to `show`, and takes a sample of the page after every frame. */
function prepare() {
  const waiting = [];
  globalThis.hold = false;
  const Own = Worker;
  globalThis.Worker = class extends Own {
    set onmessage(listener) {
      super.onmessage = (event) => {
        if (globalThis.hold && event.data.verb === 'show') waiting.push(() => listener.call(this, event));
        else listener.call(this, event);
      };
    }
  };
  globalThis.release = () => {
    globalThis.hold = false;
    for (const deliver of waiting.splice(0)) deliver();
  };
  /** Replaces the answers that are held back by a failure. */
  globalThis.fail = (code, values) => {
    globalThis.hold = false;
    waiting.length = 0;
    globalThis.failing = { code, values };
  };
  const post = Own.prototype.postMessage;
  Own.prototype.postMessage = function (message, ...rest) {
    if (message.verb === 'show') globalThis.asked = { worker: this, id: message.id };
    post.call(this, message, ...rest);
  };
  /** Returns a number that differs for other pixels, or null for a canvas without any. */
  const hashOf = (canvas) => {
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    const words = new Uint32Array(data.buffer);
    return words.some(Boolean) ? words.reduce((sum, word, i) => (sum + word * (i % 65521)) % 2 ** 31, 0) : null;
  };
  globalThis.look = () => {
    const picture = part('.matrix canvas');
    return {
      old: part('main').dataset.old === 'true',
      sentenceOld: part('.line')?.dataset.old === 'true',
      busy: part('main').ariaBusy === 'true',
      text: part('textarea')?.value ?? null,
      model: part('.model-menu .under').textContent.trim(),
      title: part('.head-name')?.textContent ?? null,
      chosen: part('.thumbnail[aria-checked=true]')?.dataset.head ?? null,
      guess: part('.guess')?.textContent ?? null,
      likeliest: part('.option .token')?.textContent ?? null,
      cells: part('.matrix')?.getAttribute('aria-label') ?? null,
      pixels: picture?.width ? hashOf(picture) : null,
    };
  };
  globalThis.seen = [];
  globalThis.watchFrames = () => {
    const sample = () => {
      if (part('main')) globalThis.seen.push(globalThis.look());
      requestAnimationFrame(sample);
    };
    sample();
  };
}

const look = () => page.evaluate(() => globalThis.look());
const idle = () =>
  page.waitForFunction(() => part('.page')?.dataset.busy === 'false' && part('main')?.dataset.old === 'false');
const choose = async (key) => {
  await page.locator('.model-menu > button').click();
  await page.locator(`.model-menu [data-key=${key}]`).click();
};
const late = () => page.waitForFunction(() => part('.waiting'));
/** The parts of a sample that must belong to one run. */
const ofRun = ({ text, model, title, guess, likeliest, pixels }) => ({ text, model, title, guess, likeliest, pixels });

beforeEach(async () => {
  await openEmpty({ viewport: { width: 1440, height: 900 }, locale: 'en-GB', reducedMotion: 'reduce' });
  await page.addInitScript(prepare);
  await page.goto(server.url);
  await page.waitForFunction(() => part('.page')?.dataset.busy === 'false' && part('.thumbnail'));
  await idle();
});

test('while a run is awaited, every frame shows one run or is marked as old', async () => {
  const first = await look();
  await page.locator('textarea').fill(TEXT);
  await idle();
  const second = await look();
  await page.locator('.thumbnail[data-head="2.1"]').click();
  await idle();
  const third = await look();
  assert.notEqual(second.guess, first.guess);
  assert.notEqual(third.pixels, second.pixels);

  await page.goto('about:blank');
  await page.goto(server.url);
  await page.waitForFunction(() => part('.page')?.dataset.busy === 'false' && part('.thumbnail'));
  await page.evaluate(() => {
    globalThis.watchFrames();
    globalThis.hold = true;
  });
  await page.locator('textarea').fill(TEXT);
  await late();
  const old = await look();
  assert.deepEqual([old.old, old.sentenceOld, old.busy], [true, true, true]);
  // The guess stands after the text, so it is hidden if the text is another one.
  assert.deepEqual(ofRun(old), { ...ofRun(first), text: TEXT, guess: null });
  await page.locator('.thumbnail[data-head="2.1"]').click();
  await page.waitForTimeout(50);
  const other = await look();
  assert.deepEqual([other.chosen, other.title, other.old], [first.chosen, first.title, true]);
  assert.equal(await page.locator('.thumbnail.next').getAttribute('data-head'), '2.1');
  await page.evaluate(() => globalThis.release());
  await idle();
  const known = [first, second, third].map((one) => JSON.stringify(ofRun(one)));
  const frames = await page.evaluate(() => globalThis.seen);
  assert.ok(frames.length > 10);
  const wrong = frames.filter((one) => !one.old && !known.includes(JSON.stringify(ofRun(one))));
  assert.deepEqual(wrong, []);
  assert.deepEqual(ofRun(await look()), ofRun(third));
});

fullTest('when another model is chosen while a run is awaited, nothing of the previous model is shown', async () => {
  await page.evaluate(() => {
    globalThis.hold = true;
  });
  await page.locator('textarea').fill(TEXT);
  await late();
  await choose('constructed');
  await page.waitForFunction(() => !part('.head-name'));
  const between = await look();
  assert.deepEqual([between.title, between.guess, between.pixels], [null, null, null]);
  await page.evaluate(() => globalThis.release());
  await idle();
  await page.waitForFunction(() => part('.head-name'));
  assert.match((await look()).model, /made|hand/i);
});

fullTest('the name of a head that is chosen by keyboard is announced before the waiting', async () => {
  await page.evaluate(() => {
    globalThis.hold = true;
  });
  await page.keyboard.press(']');
  await late();
  const spoken = () => page.locator('[role=status].spoken').textContent();
  assert.match(await spoken(), /^Layer 4, head 3\b.*Computing … What is grey belongs/);
  await page.evaluate(() => globalThis.release());
  await idle();
});

test('Stop returns to the last complete run, with its text', async () => {
  const first = await look();
  await page.evaluate(() => {
    globalThis.hold = true;
  });
  await page.locator('textarea').fill(TEXT);
  await late();
  assert.match(await page.locator('.waiting').textContent(), /Computing.*Stop/);
  assert.match(await page.locator('[role=status].spoken').textContent(), /Computing … What is grey belongs/);
  await page.locator('.waiting button').click();
  await page.waitForFunction(() => !part('.waiting'));
  assert.deepEqual([(await look()).old, ofRun(await look())], [false, ofRun(first)]);
  await page.evaluate(() => globalThis.release());
  await idle();
  assert.deepEqual(ofRun(await look()), ofRun(first));
});

test('a run that fails gives its reason in place of the picture, and marks the previous run as old', async () => {
  const first = await look();
  await page.evaluate(() => {
    globalThis.watchFrames();
    globalThis.hold = true;
  });
  await page.locator('textarea').fill(TEXT);
  await late();
  await page.evaluate(() => {
    const { worker, id } = globalThis.asked;
    globalThis.fail();
    worker.dispatchEvent(
      new MessageEvent('message', {
        data: { id, verb: 'show', error: 'x', code: 'textMemory', values: [4096, 2900] },
      }),
    );
  });
  await page.locator('.failed-run').waitFor();
  const failed = await look();
  assert.match(await page.locator('.view').textContent(), /not enough memory for 4096 tokens. About 2900 tokens fit/);
  assert.deepEqual([failed.old, failed.busy, failed.pixels, failed.text], [true, false, null, TEXT]);
  assert.equal(failed.likeliest, first.likeliest);
  for (const [width, height] of [
    [360, 740],
    [768, 1024],
  ]) {
    await page.setViewportSize({ width, height });
    await assertNoSidewaysScroll(`${width} px`);
  }
  await page.setViewportSize({ width: 1440, height: 900 });
  await page.getByRole('button', { name: 'Back to the previous run' }).click();
  await idle();
  await page.waitForFunction((count) => part('.matrix canvas')?.width > count, LAST);
  assert.deepEqual(ofRun(await look()), ofRun(first));
  const frames = await page.evaluate(() => globalThis.seen);
  const known = JSON.stringify(ofRun(first));
  const wrong = frames.filter((one) => !one.old && one.pixels && JSON.stringify(ofRun(one)) !== known);
  assert.deepEqual(wrong, []);
});
