// Training windows with passages that occur twice, and with stutters. Both teach the model when to copy.
//
// A passage of whole words occurs exactly twice, at two positions of the text, and the second occurrence is followed by
// other text. The tokens of the passage are those of the book, or some or all of them are replaced by random ones. A
// passage that is not known from the book can only be continued by copying.
//
// A stutter is a phrase of the text that occurs several times in a row. After the stutter the text continues, so that
// the model learns not to repeat a phrase without end.

import type { Random } from '../../../web/model/types.ts';
import type { Texts } from './windows.ts';
export type Row = [token: number, isPredicted: boolean][];
export type Full = Texts & { whole: Uint16Array; words: Int32Array; vocabulary: Int32Array };

/** Smallest and largest number of tokens of a passage, of other text around it, and of a phrase in a stutter. */
const PASSAGE = [7, 20] as const;
const AROUND = [2, 12] as const;
const PHRASE = [1, 6] as const;
/** Smallest and largest number of tokens of a passage of random tokens. */
const RANDOM = [10, 60] as const;
/** Smallest and largest number of tokens of the text between two stutters. */
const CALM = [6, 40] as const;
/** First tokens of the second occurrence that are not targets, because a repeated beginning may be a coincidence. */
const BEGINNING = 2;
/** Kinds of passages, each with the cumulative share of passages and the share of tokens that are replaced. */
const REPLACED = [
  [0.25, 0],
  [0.5, 0.4],
  [1, 1],
] as const;
const NONE = -100;

const below = (random: Random, n: number) => Math.floor(random() * n);
const within = (random: Random, [least, most]: readonly [number, number]) => least + below(random, most - least + 1);

/**
 * Returns for each token of a text the number of adjacent tokens, starting with this token, that are whole words or
 * signs.
 */
export function wholeWords(tokens: ArrayLike<number>, textOf: (token: number) => string) {
  const pieces = Array.from(tokens, textOf);
  const lengths = new Uint16Array(pieces.length);
  for (let t = pieces.length - 1; t >= 0; t--) {
    const isWord = /^ \p{L}+$/u.test(pieces[t]) && !/^\p{L}/u.test(pieces[t + 1] ?? '');
    lengths[t] = isWord || /^[,;.!?]$/.test(pieces[t]) ? 1 + (lengths[t + 1] ?? 0) : 0;
  }
  return lengths;
}

function addText(row: Row, tokens: Int32Array, at: number, length: number, begins: boolean) {
  for (let t = 0; t < length; t++) row.push([tokens[at + t], !begins || t > 0]);
}

/** Adds a passage that occurs twice, with text around it. */
function addEcho(row: Row, { train, whole, words, vocabulary }: Full, random: Random) {
  const around = () => (random() < 0.5 ? within(random, AROUND) : 0);
  const from = () => {
    let at = 0;
    do at = AROUND[1] + below(random, train.length - 2 * AROUND[1] - PASSAGE[1]);
    while (whole[at] < PASSAGE[0]);
    return at;
  };
  const at = from();
  const said = train.slice(at, at + Math.min(within(random, PASSAGE), whole[at]));
  const kind = random();
  const [, replaced] = REPLACED.find(([share]) => kind < share) as [number, number];
  const others = random() < 0.7 ? words : vocabulary;
  for (let t = 0; t < said.length; t++) if (random() < replaced) said[t] = others[below(random, others.length)];

  const lead = around();
  addText(row, train, at - lead, lead, true);
  said.forEach((token, t) => row.push([token, replaced === 0 && (t > 0 || lead > 0)]));
  const gap = around();
  addText(row, train, below(random, train.length - gap), gap, true);
  said.forEach((token, t) => row.push([token, t >= BEGINNING]));
  addText(row, train, at + said.length, around(), replaced > 0);
}

/** Adds a passage of random tokens twice. */
function addDrill(row: Row, { words, vocabulary }: Full, random: Random) {
  const others = random() < 0.7 ? words : vocabulary;
  const said = Array.from({ length: within(random, RANDOM) }, () => others[below(random, others.length)]);
  for (const token of said) row.push([token, false]);
  said.forEach((token, t) => row.push([token, t > 0]));
}

/** Adds text, then a phrase of it several times. */
function addStutters(row: Row, { train }: Texts, random: Random, length: number) {
  let at = below(random, train.length - length);
  for (let begins = true; row.length < length; begins = false) {
    const calm = within(random, CALM);
    addText(row, train, at, calm, begins);
    at += calm;
    const phrase = within(random, PHRASE);
    for (let times = 1 + below(random, 3); times > 0; times--)
      for (let t = at - phrase; t < at; t++) row.push([train[t], false]);
  }
}

/**
 * Fills a window with passages of random tokens that occur twice (drills), with passages of text that occur twice
 * (echoes), or with a text that stutters.
 */
export function fillWindow(
  kind: 'drills' | 'echoes' | 'stutters',
  texts: Texts,
  { labels, targets }: { labels: Int32Array; targets: Int32Array },
  random: Random,
) {
  const { whole, words, vocabulary } = texts;
  if (!whole || !words || !vocabulary) throw new Error('texts need whole, words and vocabulary');
  const row: Row = [];
  const add = kind === 'echoes' ? addEcho : addDrill;
  if (kind === 'stutters') addStutters(row, texts, random, labels.length + 1);
  else while (row.length <= labels.length) add(row, { ...texts, whole, words, vocabulary }, random);
  for (let t = 0; t < labels.length; t++) {
    labels[t] = row[t][0];
    targets[t] = row[t + 1][1] ? row[t + 1][0] : NONE;
  }
}
