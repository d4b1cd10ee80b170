// The visitor's predictions: which choice the visitor made in each act, whether the act is done, and which choice came
// true.

import { type Log, type Seen, STEPS } from '../../model/storySteps.ts';
import { QUESTIONS, type Quiz } from './questions.ts';

const isAnswered = (quiz: Quiz | undefined) => quiz?.answers.length === QUESTIONS.length;

/** Functions that return, for each act of a step, true if its result was observed. */
const OBSERVED: Record<string, ((seen: Seen) => boolean)[]> = {
  next: [(seen) => Boolean(seen)],
  tokens: [(seen) => Boolean(seen)],
  back: [(seen) => Boolean(seen)],
  why: [(seen) => Boolean(seen?.flipped), (seen) => Boolean(seen?.to)],
  fetched: [(seen) => Boolean(seen?.other)],
  ahead: [(seen) => Boolean(seen)],
  many: [(seen) => Boolean(seen?.previous), (seen) => Boolean(seen?.induction)],
  matter: ['fell', 'too', 'same'].map((found) => (seen) => Boolean(seen?.[found])),
  cut: [(seen) => Boolean(seen?.after)],
  train: [(seen) => Boolean(seen?.opened)],
  before: [isAnswered],
  after: [isAnswered],
};

/** Returns the index of the first bound that is larger than a number; the number of bounds if there is none. */
const below = (x: number, ...bounds: number[]) => {
  const at = bounds.findIndex((bound) => x < bound);
  return at < 0 ? bounds.length : at;
};
/** Returns the index of a choice about a probability or weight: 0 it stayed, 1 it fell, 2 it is almost zero. */
const fallOf = (from: number, to: number) => 2 - below(to / from, 0.2, 0.9);

/** Functions that return, for each act with a question, the index of the choice that came true. */
const CAME_TRUE: Record<string, (((seen: Seen) => number) | null)[]> = {
  next: [({ p }) => below(p, 0.1, 0.5)],
  tokens: [({ parts }) => below(parts.length, 2, 4)],
  back: [({ distance, all }) => (distance === 1 ? 0 : below(distance, all / 2) + 1)],
  why: [
    ({ flipped: { before, to } }) => (to.weight / before.weight > 0.98 ? 0 : to.weight >= to.most ? 1 : 2),
    ({ before, to }) => (to.most < before.most - 0.01 ? 1 : to.most > before.most + 0.01 ? 2 : 0),
  ],
  fetched: [({ one, other }) => (other.adds <= 0 ? 2 : other.adds < 0.9 * one.adds ? 1 : 0)],
  ahead: [({ meanFrom, meanTo }) => below(meanTo / meanFrom, 1.5, 4)],
  many: [({ previous: { count, heads } }) => below(count, 1, heads / 2), null],
  matter: [({ fell }) => fallOf(fell.from, fell.to), ({ fell, too }) => (too.layer === fell.layer - 1 ? 1 : 2), null],
  cut: [({ base, after }) => (after.weight / base.weight < 0.5 ? 1 : after.p / base.p < 0.9 ? 2 : 0)],
  train: [({ right }) => (right === undefined ? -1 : below(right, 0.25, 0.75))],
  before: [null],
  after: [null],
};

const keyOf = (step: number, act: number) => `${STEPS[step].name}.${act}`;
export const saidIn = (step: number, act: number, log: Log) => log.said?.[keyOf(step, act)];
export const asks = (step: number, act: number) => CAME_TRUE[STEPS[step].name][act] !== null;

export const hasAnswered = (step: number, log: Log) =>
  OBSERVED[STEPS[step].name].some((_, act) => saidIn(step, act, log) !== undefined);

export const predicted = (log: Log, step: number, act: number, choice: number) => ({
  ...log,
  said: { ...log.said, [keyOf(step, act)]: choice },
});

/** Returns the choice that came true in an act that is done; null if the act has no question. */
export function cameTrue(step: number, act: number, log: Log) {
  const { name } = STEPS[step];
  return CAME_TRUE[name][act]?.(log[name]) ?? null;
}

/** Returns, for each act of a step, true if it is done and was predicted before its result. */
export const actsDone = (step: number, log: Log) => {
  const { name } = STEPS[step];
  return OBSERVED[name].map(
    (isObserved, act) => isObserved(log[name]) && (!asks(step, act) || saidIn(step, act, log) !== undefined),
  );
};

/** Returns the number of predictions in the whole story whose results are known, and of those that came true. */
export function predictionsSoFar(log: Log) {
  const all = STEPS.flatMap((_, step) =>
    actsDone(step, log).flatMap((isDone, act) => {
      const came = isDone && asks(step, act) ? Number(cameTrue(step, act, log)) : -1;
      return came < 0 ? [] : [came === saidIn(step, act, log)];
    }),
  );
  return { known: all.length, right: all.filter((isRight) => isRight).length };
}
