import assert from 'node:assert/strict';
import test from 'node:test';
import { fillWindow, wholeWords } from '../../../src/build/demo/echoes.ts';
import { uniformSource } from '../../../src/js/ops/random.ts';

const SEED = 6;
const WINDOW = 128;
const LENGTH = 4000;
/** Test texts. No token occurs twice in `train`, and none of its tokens occurs in `words` or `vocabulary`. */
const texts = {
  train: Int32Array.from({ length: LENGTH }, (_, i) => i),
  whole: new Uint16Array(LENGTH).fill(30),
  words: Int32Array.from({ length: 400 }, (_, i) => LENGTH + i),
  vocabulary: Int32Array.from({ length: 400 }, (_, i) => LENGTH + 400 + i),
  heldOut: new Int32Array(0),
  start: -1,
};
function windowsOf(kind, count) {
  const random = uniformSource(SEED);
  return Array.from({ length: count }, () => {
    const window = { labels: new Int32Array(WINDOW), targets: new Int32Array(WINDOW) };
    fillWindow(kind, texts, window, random);
    return window;
  });
}

test('whole words and signs are counted up to the first piece of a word', () => {
  const pieces = [' the', ' old', ' sea', ',', ' gr', 'ap', 'ple', ' and', '\n', ' it', '.'];
  assert.deepEqual([...wholeWords([...pieces.keys()], (i) => pieces[i])], [4, 3, 2, 1, 0, 0, 0, 1, 0, 2, 1]);
});

test(`every target is the next token (seed ${SEED})`, () => {
  for (const kind of ['drills', 'echoes', 'stutters'])
    for (const { labels, targets } of windowsOf(kind, 40)) {
      for (let t = 0; t + 1 < WINDOW; t++) if (targets[t] !== -100) assert.equal(targets[t], labels[t + 1]);
      assert.ok(targets.some((target) => target !== -100));
    }
});

test(`random tokens occur twice, and only the second occurrence is predicted (seed ${SEED})`, () => {
  for (const { labels, targets } of windowsOf('drills', 20)) {
    assert.ok(labels.every((token) => token >= LENGTH));
    const half = labels.indexOf(labels[0], 1);
    assert.ok(half >= 2 && half <= 60);
    assert.ok(targets.subarray(0, Math.min(half, 9)).every((target) => target === -100));
  }
});

test(`a passage occurs twice, and text or replaced words can be predicted from it (seed ${SEED})`, () => {
  let [copied, places] = [0, 0];
  for (const { labels, targets } of windowsOf('echoes', 60))
    for (let t = 0; t < WINDOW; t++) {
      if (targets[t] === -100) continue;
      places++;
      const isText = targets[t] === labels[t] + 1;
      const isCopy = labels.subarray(0, t).some((token, s) => token === labels[t] && labels[s + 1] === targets[t]);
      assert.ok(isText || isCopy, `${labels[t]} ${targets[t]}`);
      copied += Number(isCopy);
    }
  assert.ok(copied > places / 4 && copied < places, `${copied} of ${places}`);
});

test(`a text continues after a phrase that was said several times (seed ${SEED})`, () => {
  let stutters = 0;
  for (const { labels, targets } of windowsOf('stutters', 40))
    for (let t = 0; t + 1 < WINDOW; t++) {
      const isNext = labels[t + 1] === labels[t] + 1;
      if (targets[t] !== -100) assert.ok(isNext);
      if (!isNext) stutters++;
      if (!isNext) assert.ok(labels[t] - labels[t + 1] < 6);
    }
  assert.ok(stutters > 40);
});
