// Describes the observations of a step of the story, as texts with values for their placeholders.

import { weightsOf } from '../../model/derivation.ts';
import { fineShareText, plain, signed, weightText } from '../../model/numbers.ts';
import type { Cell } from '../../model/state.ts';
import type { Seen } from '../../model/storySteps.ts';
import { shown } from '../../model/tokens.ts';
import { headName, TRICK } from '../../model/trial.ts';
import type { Run } from '../../model/types.ts';
import type { Strings } from '../../texts/languages.ts';
import { askedWord, FALL, SAME } from './observations.ts';
/** values of the placeholders of a text, by name */
export type Values = Record<string, string>;
/** text with the values of its placeholders */
export type Filled = { of: string; values: Values };
/** seen: text of the result; other: text of the result in another case */
export type StepTexts = { acts: { seen: string; other?: string }[] };
export type Place = { layer: number; head: number };

const tokenOf = (text: string) => shown(text).trim() || '␣';
const placeOf = ({ layer, head }: Place) => ({ layer: String(layer), head: String(head) });
/** The heads of which one reads what the other writes. */
const PAIR = { reader: headName(TRICK.to), writer: headName(TRICK.from) };

const costOf = ({ story }: Strings, found: Place & { points: number }) => ({
  ...placeOf(found),
  points: story.points(Math.abs(found.points)),
});

/** Functions that return, for each act of a step, the values of its observation; null if there is none yet. */
const VALUES: Record<string, (seen: Seen, words: Strings) => (Values | null)[]> = {
  next: ({ after, guess, p }, { percent, write }) => [{ after, guess: tokenOf(guess), p: percent(p), write }],
  tokens: ({ word, parts, ids }) => [
    { word, count: String(parts.length), parts: parts.join(' · '), ids: ids.join(' · ') },
  ],
  back: ({ token, key, distance, weight, total }) => [
    { token, key, distance: String(distance), weight: weightText(weight), total: weightText(total) },
  ],
  why: ({ flipped, number, temperature, before, to }) => [
    flipped && {
      from: weightText(flipped.before.weight),
      to: weightText(flipped.to.weight),
      width: String(number.width),
    },
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
      (role) =>
        seen[role] && {
          ...placeOf(seen[role]),
          score: weightText(seen[role].score),
          count: String(seen[role].count),
          heads: String(seen[role].heads),
        },
    ),
  matter({ fell, too, same }, words) {
    const { percent } = words;
    const fall = fell && { text: tokenOf(fell.text), from: percent(fell.from), to: percent(fell.to) };
    return [fell ? { ...placeOf(fell), ...fall } : null, too && costOf(words, too), same && costOf(words, same)];
  },
  cut: ({ base, after }, { percent }) => [
    after && {
      from: weightText(base.weight),
      to: weightText(after.weight),
      text: tokenOf(base.text),
      pFrom: percent(base.p),
      pTo: percent(after.p),
    },
  ],
  train: ({ steps, right }) => [right === undefined ? null : { steps: String(steps), right: fineShareText(right) }],
};
/** Functions that return true if a step has another result, with the text `other`. */
const HAS_OTHER_TEXT = {
  tokens: ({ parts }) => parts.length === 1,
  ahead: ({ meanFrom, meanTo }) => meanTo <= meanFrom,
  train: ({ right }) => right === undefined,
} as Record<string, (seen: Seen) => boolean>;

/** Returns the result of an act that is done. `name`: of the step; `seen`: its observations in the log. */
export function resultText(words: Strings, { acts }: StepTexts, name: string, act: number, seen: Seen): Filled {
  const { seen: usual, other = usual } = acts[act];
  return { of: HAS_OTHER_TEXT[name]?.(seen) ? other : usual, values: VALUES[name](seen, words)[act] ?? {} };
}

/** Returns the values of a step's texts, questions and tasks; null if unknown. `name`: of the step. */
export function questionValues(
  name: string,
  seen: Seen,
  { run, cell, words }: { run: Run | null; cell: Cell | null; words: Strings },
): Values | null {
  const named = { next: words.next, menu: words.changes, story: words.story.name, ...PAIR };
  const { causal, none } = words.masks;
  switch (name) {
    case 'tokens':
      return run && run.T > 0
        ? {
            word: askedWord(run.pieces)
              .map(({ text }) => text)
              .join(''),
          }
        : null;
    case 'back':
      return run && run.T > 0 ? { query: run.pieces[Math.min(cell?.t ?? run.T, run.T - 1)].name } : null;
    case 'many':
      return run && sizeOf(run.about);
    case 'matter':
      return run?.chosen
        ? { ...placeOf(TRICK.to), guess: tokenOf(run.chosen.text), fall: String(FALL), same: String(SAME) }
        : null;
    case 'why':
      return scoreValues(seen, run, cell);
    default:
      return { ...named, causal, none };
  }
}

const sizeOf = ({ layers, heads }: Run['about']) => ({
  layers: String(layers),
  perLayer: String(heads),
  heads: String(layers * heads),
});

function scoreValues(seen: Seen, run: Run | null, cell: Cell | null) {
  if (!run?.values || !cell || cell.t >= run.T) return null;
  return {
    query: run.pieces[cell.t].name,
    key: run.pieces[cell.s].name,
    width: String(run.values.width),
    weight: weightText(seen?.base?.weight ?? weightsOf(run, run.layer, run.head)?.[cell.t * run.S + cell.s]),
  };
}
