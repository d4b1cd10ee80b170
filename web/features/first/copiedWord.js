// The content of the first visit's sentence: the word that the head copies, the words before it that also end the text,
// and the prediction with and without the head. All of it is read from the answer to the page's first request.

import { weightsOf } from '../reading/derivation.js';

/** @import { Comparison } from '../../store/protocol.js' */
/** @import { Run } from '../../store/types.js' */
/** @typedef {readonly [from: number, to: number]} Range range of characters in the text, without spaces at its ends */
/**
 * @typedef {object} Copied
 * @property {string} text text that the model reads
 * @property {number} weight attention weight of the last token on the copied word
 * @property {Range} word range of the word that is copied
 * @property {Range} earlier range of the words before the copied word
 * @property {Range} later range of the same words at the end of the text
 */

const textOf = (/** @type {Run['pieces']} */ pieces) => pieces.map(({ space, text }) => space + text).join('');

/** Returns the index of the largest weight. @param {Float32Array} row */
const largest = (row) => row.reduce((best, w, s) => (w > row[best] ? s : best), 0);

/**
 * Returns the word that a head copies; null if the strongest key of the last token does not follow the words that the
 * text ends with. Words are compared by letters, because at the beginning of a text a word may have other tokens.
 * @param {Run} run @param {number} layer @param {number} head
 * @returns {Copied | null}
 */
export function copiedBy(run, layer, head) {
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

/** Returns the number of letters of the whole words with which both texts end. @param {string} a @param {string} b */
function sameWords(a, b) {
  const [left, right] = [a, b].map((text) => text.toLowerCase());
  let length = 0;
  while (length < left.length && left.at(-1 - length) === right.at(-1 - length)) length++;
  const begins = (/** @type {string} */ text) => length === text.length || /\s/.test(text[text.length - length - 1]);
  const isSpace = () => /\s/.test(left[left.length - length]);
  while (length > 0 && (isSpace() || !begins(left) || !begins(right))) length--;
  return length;
}

/**
 * The prediction with the head on and with the head off, and the probability of the first prediction in both cases.
 * @typedef {{ word: string, other: string, on: number, off: number }} Cases
 */

/**
 * Returns both cases from a run with the head either on or off; null until both are known.
 * @param {Run} run
 * @param {Comparison | null} comparison
 * @returns {Cases | null}
 */
export function casesOf({ top, chosen }, comparison) {
  if (!top?.length || !chosen || !comparison) return null;
  const at = top.findIndex(({ id }) => id === chosen.id);
  if (at < 0) return null;
  const [now, then] = [top[at].now, comparison.top[at]];
  if (comparison.kind === 'without') return { word: chosen.text, other: comparison.likeliest, on: now, off: then };
  if (comparison.kind === 'with') return { word: chosen.text, other: top[0].text, on: then, off: now };
  return null;
}

/** @typedef {{ kind: 'plain' | 'again' | 'copied', text: string }} Part of the sentence */

/**
 * Returns the parts of the sentence: words that occur twice, the word that is copied, and the text between them.
 * @param {Copied} copied
 * @returns {Part[]}
 */
export function partsOf({ text, word, earlier, later }) {
  /** @type {[Part['kind'], Range][]} */
  const ranges = [
    ['plain', [0, earlier[0]]],
    ['again', earlier],
    ['plain', [earlier[1], word[0]]],
    ['copied', word],
    ['plain', [word[1], later[0]]],
    ['again', later],
  ];
  return ranges.map(([kind, [from, to]]) => ({ kind, text: text.slice(from, to) }));
}
