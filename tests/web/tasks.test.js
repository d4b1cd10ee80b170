// The tasks of a visitor:
//
//    1. Open the demo model and find its induction head.
//    2. Switch it off and read how far the prediction falls.
//    3. Load the folder of a tiny BERT and read layer 1, head 0.
//    4. Load attentions.npy with its tokens.
//    5. Patch one run into another.
//    6. Paint a mask.
//    7. Train Repeat and see its heads.
//    8. Write a text for the trained model.
//    9. Compare two prompts.
//   10. Export a figure.
//   11. Embed one heatmap in another page.
//   12. Follow the story to its end.
//
// Each task is written once and done in three ways: with the mouse, by keyboard alone, and by touch at 360 px.

import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { after, before } from 'node:test';
import { writeNpy } from '../../src/js/io/formats.ts';
import { makeCheckpoint } from '../support/checkpoint.js';
import { openLesson } from '../support/course.js';
import { keyboard, mouse, touch } from '../support/hands.js';
import { FROM, GUESS, LAST, NAMES } from '../support/opening.js';
import { download, faults, openEmpty, page, server } from '../support/page.js';
import { follow } from '../support/story.js';
import { inTier } from '../support/tier.js';

let folder, lesson;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'headlight-tasks-'));
  makeCheckpoint(join(folder, 'tiny-bert'), 'bert');
  await writeFile(join(folder, 'attentions.npy'), writeNpy({ data: Float32Array.of(1, 0, 0.25, 0.75), shape: [2, 2] }));
  await writeFile(join(folder, 'tokens.json'), '["here", "there"]');
  lesson = await openLesson();
});
after(async () => {
  await lesson?.close();
  await rm(folder, { recursive: true });
});

const settle = () => page.waitForFunction(() => part('.page')?.dataset.busy === 'false' && part('#picture'));
/** Waits until an element contains a text. @param {string} selector @param {string | RegExp} text */
const says = (selector, text) =>
  page.locator(selector).filter({ hasText: text }).first().waitFor({ state: 'attached' });
const guess = () => page.evaluate(() => part('.prediction .option b').textContent);
const guessIsNot = (before) => page.waitForFunction((is) => part('.prediction .option b').textContent !== is, before);
const address = (pattern) =>
  page.waitForFunction((is) => new RegExp(is).test(decodeURIComponent(location.hash)), pattern);

async function open(hand, address = server.url) {
  await openEmpty({ ...hand.screen, locale: 'en-GB' });
  // Listens before the button is pressed, because the event may come before the press returns.
  page.on('filechooser', () => {});
  await page.goto(address);
}

/** Pins the run, and appends to the text. */
async function pinAndWrite(hand, text) {
  await hand.pin();
  await hand.write(text);
  await says('.title', text.trim());
  await settle();
}

async function give(hand, control, files) {
  await hand.enter('open');
  const chooser = page.waitForEvent('filechooser');
  await hand.press(control);
  await (await chooser).setFiles(files);
}

async function train(hand) {
  await open(hand);
  await settle();
  await hand.enter('train');
  await page.waitForFunction(() => Number(part('.time input')?.value) > 10);
}

/** The tasks, in the order of the list above. */
const TASKS = {
  async 'the whale is opened, and its induction head found'(hand) {
    await open(hand);
    await settle();
    await hand.head(0, 0);
    await says('.corner h2', 'Layer 0, head 0');
    await hand.head(4, 2);
    await says('.corner h2', 'Layer 4, head 2');
    await says('.corner', 'looks at the word after them');
    await hand.read(LAST, FROM);
    await says('.title', new RegExp(`${NAMES[LAST]}${LAST} looks at ${GUESS}: [01]\\.\\d\\d`));
  },

  async 'it is switched off, and the guess falls; on again, it is as before'(hand) {
    await open(hand);
    await settle();
    const before = await guess();
    await hand.press(/^this attention head$/);
    await says('.corner h2', 'is off');
    await guessIsNot(before);
    assert.ok(Number.parseInt(await guess(), 10) < Number.parseInt(before, 10) / 2);
    await hand.press(/^this attention head$/);
    await page.waitForFunction((is) => part('.prediction .option b').textContent === is, before);
  },

  async 'the folder of a tiny BERT is loaded, and its layer 1, head 0 is read'(hand) {
    await open(hand);
    await settle();
    await give(hand, /^A folder…/, join(folder, 'tiny-bert'));
    await says('.told', 'bert: 2 layers × 4 heads');
    await hand.press(/^Close$/);
    await hand.head(1, 0);
    await says('.corner h2', 'Layer 1, head 0');
    await hand.read(1, 2);
    await says('.title', /looks at .+: 0\.\d\d/);
  },

  async 'attentions.npy is loaded with its tokens, and a cell is read'(hand) {
    await open(hand);
    await settle();
    await give(
      hand,
      /^Files…/,
      ['attentions.npy', 'tokens.json'].map((name) => join(folder, name)),
    );
    await says('.row-words', 'there');
    await settle();
    await hand.read(1, 0);
    await says('.title', 'there looks at here: 0.25');
  },

  async 'a run is pinned, another written, and a head patched from one into the other'(hand) {
    await open(hand);
    await settle();
    await pinAndWrite(hand, ' of');
    const before = await guess();
    await hand.unfold();
    await hand.pick(/^replace with/, /^the pinned run/);
    await address('patch=4.2');
    await guessIsNot(before);
  },

  async 'a mask is painted'(hand) {
    await open(hand);
    await settle();
    const before = await guess();
    await hand.unfold();
    await hand.pick(/^mask/, /^by hand/);
    await page.waitForFunction(() => part('canvas.brush') && part('.brushing'));
    await hand.paint(LAST, 0, FROM);
    await address(`painted=all:${LAST}.0-${FROM}`);
    await guessIsNot(before);
    await hand.press(/^Done$/);
    await page.waitForFunction(() => part('canvas.brush') === null && part('.slider'));
  },

  async 'Repeat is trained, and its heads are seen'(hand) {
    await train(hand);
    await hand.pick(/^Speed/, /^as fast as it can/);
    await page.waitForFunction(() => Number(part('.time input').value) > 60);
    await hand.head(1, 0);
    await page.waitForFunction(() => part('.thumbnail[aria-checked=true]').dataset.head === '1.0');
    await says('.letter', /./);
    await says('.charts .title', '%');
  },

  async 'one writes into what was trained'(hand) {
    await train(hand);
    await hand.press(/^Pause$/);
    await page.waitForFunction(() => part('.play path:not(.full)') === null);
    await hand.press(/^Try/);
    await page.waitForFunction(() => part('.sentence textarea') && part('.page').dataset.busy === 'false');
    const before = await page.locator('.sentence textarea').inputValue();
    await hand.write('a');
    await page.waitForFunction((before) => part('.sentence textarea').value === `${before}a`, before);
    await settle();
    await page.locator('.prediction .option').first().waitFor();
  },

  async 'two prompts are compared'(hand) {
    await open(hand);
    await settle();
    await pinAndWrite(hand, ' time');
    await hand.pick(/^View/, /^Side by side/);
    await page.waitForFunction(() => part('.compare')?.querySelectorAll('.matrix canvas').length === 2);
  },

  async 'the picture is saved as a drawing'(hand) {
    await open(hand);
    await settle();
    const { name, bytes } = await download(async () => {
      await hand.pick(/^Share$/, /SVG$/);
    });
    assert.match(name, /\.svg$/);
    assert.match(`${bytes}`, /^<svg[\s\S]*Layer 4, head 2/);
  },

  async 'one heatmap in a page of one’s own is read'(hand) {
    await open(hand, lesson.url);
    await says('.title', 'whale looks at white: 0.50');
    await hand.read(1, 0);
    await says('.title', 'white looks at The: 0.25');
  },

  async 'the story is followed to its end'(hand) {
    await open(hand);
    await settle();
    await follow(hand);
  },
};

/** The tasks of the default tier. Tests of the features open files, train, paint and follow the story as well. */
const SOME = [
  'the whale is opened, and its induction head found',
  'it is switched off, and the guess falls; on again, it is as before',
  'a run is pinned, another written, and a head patched from one into the other',
  'the picture is saved as a drawing',
  'one heatmap in a page of one’s own is read',
];
for (const hand of inTier([mouse, keyboard, touch], [mouse]))
  for (const [task, done] of Object.entries(TASKS).filter(([task]) => inTier(true, SOME.includes(task))))
    test(`${hand.name}: ${task}`, async () => {
      await done(hand);
      assert.deepEqual(faults, []);
    });
