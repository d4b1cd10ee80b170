// The observations of a step of the story, as texts with values for their placeholders.

import { plain, signed, weightText } from '../../texts/numbers.js';
import { shown } from '../prompt/tokens.js';

/** @import { Strings } from '../../texts/languages.js' */
/** @typedef {Record<string, string>} Values for the placeholders of a text, by name */
/** @typedef {{ of: string, values: Values }} Filled a text with its values */
/** @typedef {{ seen: string[], first?: string }} StepTexts first: for the first token, if it differs */
/** @typedef {{ layer: number, head: number }} Place */

const tokenOf = (/** @type {string} */ text) => shown(text).trim() || '␣';
/** @param {Place} place */
const placeOf = ({ layer, head }) => ({ layer: String(layer), head: String(head) });

/** @param {Strings} words @param {Place & { points: number }} found */
const costOf = ({ story }, found) => ({ ...placeOf(found), points: story.points(Math.abs(found.points)) });

/**
 * For each task of a step the values of its observation; null if there is none yet.
 * @type {Record<string, (seen: any, words: Strings) => (Values | null)[]>}
 */
const VALUES = {
  next: ({ after, guess, p }, { percent }) => [{ after, guess: tokenOf(guess), p: percent(p) }],
  tokens: ({ word, parts, ids }) => [
    { word, count: String(parts.length), parts: parts.join(' · '), ids: ids.join(' · ') },
  ],
  back: ({ token, weight, total }) => [{ token, weight: weightText(weight), total: weightText(total) }],
  why: ({ temperature, before, to }) => [
    to && {
      temperature: weightText(temperature),
      scoreFrom: plain(before.score),
      scoreTo: plain(to.score),
      from: weightText(before.weight),
      to: weightText(to.weight),
    },
  ],
  fetched({ one, other }) {
    if (!other) return [null];
    const names = { one: tokenOf(one.text), other: tokenOf(other.text) };
    const winner = one.adds >= other.adds ? names.one : names.other;
    return [{ ...names, winner, addsOne: signed(one.adds), addsOther: signed(other.adds) }];
  },
  ahead: ({ token, next, place, from, to, meanFrom, meanTo }, { percent }) => [
    {
      token,
      next,
      place: String(place),
      from: percent(from),
      to: percent(to),
      meanFrom: percent(meanFrom),
      meanTo: percent(meanTo),
    },
  ],
  many: (seen) =>
    ['previous', 'induction'].map(
      (role) => seen[role] && { ...placeOf(seen[role]), score: weightText(seen[role].score) },
    ),
  matter({ fell, too, same }, words) {
    const { percent } = words;
    const fall = fell && { text: tokenOf(fell.text), from: percent(fell.from), to: percent(fell.to) };
    return [fell ? { ...placeOf(fell), ...fall } : null, too && costOf(words, too), same && costOf(words, same)];
  },
  train: () => [{}],
};

/**
 * The observations of a step, for each task.
 * @param {Strings} words
 * @param {StepTexts} texts
 * @param {string} name of the step
 * @param {any} seen the step's observations in the log
 * @returns {Filled[]}
 */
export function observationTexts(words, { seen: texts, first }, name, seen) {
  if (!seen) return [];
  return VALUES[name](seen, words).flatMap((values, i) =>
    values ? [{ of: seen.first && first ? first : texts[i], values }] : [],
  );
}
