// The content of the first visit's sentence: the word that the head copies, the words before it that also end the text,
// and the prediction with and without the head. All of it is read from the answer to the page's first request.

import { weightsOf } from '../../model/derivation.ts';
import type { Comparison } from '../../model/protocol/protocol.ts';
import type { Run } from '../../model/types.ts';
/** range of characters in the text, without spaces at its ends */
export type Range = readonly [from: number, to: number];
export type Copied = {
  /** text that the model reads */
  text: string;
  /** attention weight of the last token on the copied word */
  weight: number;
  /** range of the word that is copied */
  word: Range;
  /** range of the words before the copied word */
  earlier: Range;
  /** range of the same words at the end of the text */
  later: Range;
};

const textOf = (pieces: Run['pieces']) => pieces.map(({ space, text }) => space + text).join('');

const largest = (row: Float32Array) => row.reduce((best, w, s) => (w > row[best] ? s : best), 0);

/**
 * Returns the word that a head copies; null if the strongest key of the last token does not follow the words that the
 * text ends with. Words are compared by letters, because at the beginning of a text a word may have other tokens.
 */
export function copiedBy(run: Run, layer: number, head: number): Copied | null {
  const { T, S, pieces } = run;
  const weights = weightsOf(run, layer, head);
  if (!weights || T < 2 || T !== S) return null;
  const row = weights.subarray((T - 1) * S, T * S);
  const key = largest(row);
  const text = textOf(pieces);
  const before = textOf(pieces.slice(0, key));
  const length = sameWords(before, text);
  if (length === 0 || before.length + length > text.length) return null;
  const start = before.length + pieces[key].space.length;
  return {
    text,
    weight: row[key],
    word: [start, start + pieces[key].text.length],
    earlier: [before.length - length, before.length],
    later: [text.length - length, text.length],
  };
}

/** Returns the number of letters of the whole words with which both texts end. */
function sameWords(a: string, b: string) {
  const [left, right] = [a, b].map((text) => text.toLowerCase());
  let length = 0;
  while (length < left.length && left.at(-1 - length) === right.at(-1 - length)) length++;
  const begins = (text: string) => length === text.length || /\s/.test(text[text.length - length - 1]);
  const isSpace = () => /\s/.test(left[left.length - length]);
  while (length > 0 && (isSpace() || !begins(left) || !begins(right))) length--;
  return length;
}

/** The prediction with the head on and with the head off, and the probability of the first prediction in both cases. */
export type Cases = { word: string; other: string; on: number; off: number };

/** Returns both cases from a run with the head either on or off; null until both are known. */
export function casesOf({ top, chosen }: Run, comparison: Comparison | null): Cases | null {
  if (!top?.length || !chosen || !comparison) return null;
  const at = top.findIndex(({ id }) => id === chosen.id);
  if (at < 0) return null;
  const [now, then] = [top[at].now, comparison.top[at]];
  if (comparison.kind === 'without') return { word: chosen.text, other: comparison.likeliest, on: now, off: then };
  if (comparison.kind === 'with') return { word: chosen.text, other: top[0].text, on: then, off: now };
  return null;
}

/** of the sentence */
export type Part = { kind: 'plain' | 'again' | 'copied'; text: string };

/** Returns the parts of the sentence: words that occur twice, the word that is copied, and the text between them. */
export function partsOf({ text, word, earlier, later }: Copied): Part[] {
  const ranges: [Part['kind'], Range][] = [
    ['plain', [0, earlier[0]]],
    ['again', earlier],
    ['plain', [earlier[1], word[0]]],
    ['copied', word],
    ['plain', [word[1], later[0]]],
    ['again', later],
  ];
  return ranges.map(([kind, [from, to]]) => ({ kind, text: text.slice(from, to) }));
}
