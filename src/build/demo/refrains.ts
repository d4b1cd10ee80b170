// Training windows that begin with a short text in which a passage of whole words occurs twice, and continue with text
// of the book. From them the model learns that a short text that repeats itself goes on like the first time, and that
// a repetition in a long text seldom does.

import type { Random } from '../../../web/model/types.ts';
import type { Texts } from './windows.ts';

/** Smallest and largest number of tokens of a passage, of the text before it, and of the text between. */
const [PASSAGE, LEAD, GAP] = [
  [7, 16],
  [1, 8],
  [1, 10],
] as const;
/** Shares of windows with one passage instead of two, and of passages with a text before them and between. */
const [ONE, WITH_LEAD, WITH_GAP] = [0.6, 0.5, 0.8];
/** Cumulative shares of passages, with the share of their tokens that are replaced by random words. */
const REPLACED = [
  [0.5, 0],
  [0.8, 0.3],
  [1, 1],
] as const;
/** First tokens of the second occurrence that are not targets, because a repeated beginning may be a coincidence. */
const BEGINNING = 2;
/** Number of tokens at the end of the book in which no passage and no text begins. */
const MARGIN = 300;
/** A target that the loss ignores. */
const NONE = -100;

const below = (random: Random, n: number) => Math.floor(random() * n);
const within = (random: Random, [least, most]: readonly [number, number]) => least + below(random, most - least + 1);

export function fillRefrain(
  { train, whole, words }: Texts,
  { labels, targets }: { labels: Int32Array; targets: Int32Array },
  random: Random,
) {
  if (!whole || !words) throw new Error('texts need whole and words');
  const row: [token: number, isPredicted: boolean][] = [];
  const add = (at: number, length: number) => {
    for (let t = 0; t < length; t++) row.push([train[at + t], t > 0]);
  };
  const placeOfWords = () => {
    let at;
    do at = 20 + below(random, train.length - MARGIN);
    while (whole[at] < PASSAGE[0]);
    return at;
  };
  for (let times = random() < ONE ? 1 : 2; times > 0; times--) {
    const lead = random() < WITH_LEAD ? within(random, LEAD) : 0;
    const at = placeOfWords();
    const length = Math.min(within(random, PASSAGE), whole[at]);
    add(at - lead, lead);
    const passage = train.slice(at, at + length);
    const kind = random();
    const [, replaced] = REPLACED.find(([share]) => kind < share) as [number, number];
    if (replaced > 0)
      for (let t = 0; t < length; t++) if (random() < replaced) passage[t] = words[below(random, words.length)];
    for (const [t, token] of passage.entries()) row.push([token, replaced === 0 && (t > 0 || lead > 0)]);
    const gap = random() < WITH_GAP ? within(random, GAP) : 0;
    add(below(random, train.length - gap), gap);
    for (const [t, token] of passage.entries()) row.push([token, t >= BEGINNING]);
  }
  add(below(random, train.length - MARGIN), labels.length + 1);
  for (let t = 0; t < labels.length; t++) {
    labels[t] = row[t][0];
    targets[t] = row[t + 1][1] ? row[t + 1][0] : NONE;
  }
}
