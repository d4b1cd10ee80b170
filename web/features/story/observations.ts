// The visitor's observations in each step of the story. Only the answers of the model decide which tasks are done.

import { effective } from '../../model/modelEdits.ts';
import type { HeadValues } from '../../model/protocol/protocol.ts';
import { type Cell, OPENING, type State } from '../../model/state.ts';
import { type Log, type Seen, STEPS } from '../../model/storySteps.ts';
import { wordAt } from '../../model/tokens.ts';
import { lineKey, readTrial, TRICK } from '../../model/trial.ts';
import type { Run } from '../../model/types.ts';
import { hasContributions, hasPredictions } from '../../store/runParts.ts';
import { observeQuiz } from './questions.ts';
/** The answers of the model to the current state. */
export type Answers = {
  run: Run;
  /** the chosen cell, or the cell on which the pointer rests */
  cell: Cell | null;
  roles?: (string | null)[][] | null;
  /** the mean weights that the heads give to the keys of their roles */
  roleWeights?: (number | null)[][] | null;
  /** probability of the actual next token after each token, with the current changes and without changes */
  real?: { now: ArrayLike<number>; ever: ArrayLike<number> } | null;
};

/** Minimum temperature at which the change of the weights is clear. */
export const WARM = 2;
/** Changes of a probability in percentage points: at least FALL counts as a fall, at most SAME as no difference. */
export const FALL = 20;
export const SAME = 2;
/** Minimum weight at which a token attends mostly to one key, and minimum distance at which that key is far back. */
const [MOSTLY, FAR] = [0.5, 6];

function rowAt({ weights, about, T, layer, head }: Run, t: number) {
  const at = ((layer * about.heads + head) * T + t) * T;
  return weights.subarray(at, at + T);
}

const isOff = (scale: number) => scale === 0;
/**
 * Returns the heads that are switched off one by one. Heads of a layer that is switched off as a whole are left out.
 */
const offHeads = ({ scale }: State) => Object.keys(scale).filter((place) => place.includes('.') && isOff(scale[place]));

/** Returns true if a component is changed that the page does not show. */
const isElsewhere = ({ trial, layer, head, cell }: State) =>
  readTrial(trial).numbers.some((one) => one.layer !== layer || one.head !== head || one.token !== cell?.t);

/**
 * Returns corrections to the state, or null. About ablation the same prediction stays chosen while its probability
 * falls, and only one head is off, so that the change is due to this head.
 */
export function corrections(state: State, log: Log): Partial<State> | null {
  const { name } = STEPS[state.step];
  if (name === 'why') return isElsewhere(state) ? { trial: {} } : null;
  if (name !== 'matter') return null;
  const off = offHeads(state);
  const place = `${state.layer}.${state.head}`;
  const base = log.matter?.base;
  const patch = {
    ...(off.length > 0 && base && state.token === null ? { token: base.id } : {}),
    ...(off.length > 1 && off.includes(place) ? { scale: { [place]: 0 } } : {}),
  };
  return Object.keys(patch).length > 0 ? patch : null;
}

/** Texts that the page sets itself, which the visitor has not written. */
const OWN_TEXTS = [OPENING, STEPS[0].begin?.text];

/** Functions that return the new observations of each step, or the old ones if there is nothing new. */
const OBSERVE: Record<string, (seen: Seen, state: State, answers: Answers) => Seen> = {
  next(seen, state, { run }) {
    if (OWN_TEXTS.includes(state.text.trim()) || run.T === 0 || !run.top) return seen;
    const after = state.text.trim().split(/\s+/).slice(-3).join(' ');
    return { after, guess: run.top[0].text, p: run.top[0].now };
  },
  tokens(seen, _, { run, cell }) {
    if (!cell || cell.t >= run.T) return seen;
    const parts = wordAt(run.pieces, cell.t);
    if (parts[0] !== askedWord(run.pieces)[0]) return seen;
    return {
      word: parts.map(({ text }) => text).join(''),
      parts: parts.map(({ name }) => name),
      ids: parts.map(({ id }) => id),
    };
  },
  back(seen, _, { run, cell }) {
    if (!cell || cell.t >= run.T) return seen;
    const row = rowAt(run, cell.t);
    const s = row.reduce((best, weight, i) => (weight > row[best] ? i : best), 0);
    const distance = cell.t - s;
    // A row that finds nothing looks at the first token, so it does not count.
    if (s === 0 || !(row[s] >= MOSTLY) || distance < FAR) return seen;
    const total = row.reduce((sum: number, w: number) => sum + w, 0);
    return { token: run.pieces[cell.t].name, key: run.pieces[s].name, distance, weight: row[s], total, all: run.T };
  },
  why(seen, state, { run, cell }) {
    if (!cell || !run.values || cell.t >= run.T || cell.s > cell.t) return seen;
    const temperature = effective(state.temperature, run.layer, run.head, 1);
    const place = [state.text, run.layer, run.head, cell.t, cell.s].join();
    const row = rowAt(run, cell.t);
    const now = { score: run.values.scores[cell.t * run.T + cell.s], weight: row[cell.s], most: Math.max(...row) };
    const [[changed, value] = ['', 0]] = Object.entries(state.trial);
    if (temperature !== 1) {
      if (temperature < WARM || seen?.place !== place) return seen;
      return { ...seen, temperature, before: seen.from, to: now };
    }
    if (changed === '') return { ...seen, place, from: now, base: now, number: strongestPair(run, cell) };
    if (seen?.place !== place) return seen;
    const isFlipped = value / seen.number.query < 0;
    return { ...seen, from: now, ...(isFlipped && { flipped: { before: seen.base, to: now } }) };
  },
  fetched(seen, state, { run }) {
    if (!hasContributions(run)) return seen;
    const now = { text: run.chosen.text, adds: run.added.heads[run.layer * run.about.heads + run.head] };
    const place = [state.text, run.layer, run.head].join();
    if (run.chosen.id === run.top[0].id) return { ...seen, place, first: now };
    return seen?.place === place ? { ...seen, one: seen.first, other: now } : seen;
  },
  ahead(seen, state, { run, real }) {
    if (!real || real.now.length < 1 || !Object.values(state.mask).includes('none')) return seen;
    const [now, ever] = [Array.from(real.now), Array.from(real.ever)];
    const mean = (list: number[]) => list.reduce((sum, p) => sum + p, 0) / list.length;
    const t = now.reduce((best, p, i) => (p - ever[i] > now[best] - ever[best] ? i : best), 0);
    return {
      place: t,
      token: run.pieces[t].name,
      next: run.pieces[t + 1].name,
      from: ever[t],
      to: now[t],
      meanFrom: mean(ever),
      meanTo: mean(now),
    };
  },
  many(seen, state, { roles, roleWeights }) {
    const role = roles?.[state.layer]?.[state.head];
    if (!role || (role !== 'previous' && role !== 'induction') || seen?.[role]) return seen;
    const score = roleWeights?.[state.layer]?.[state.head];
    const count = roles.flat().filter((other) => other === role).length;
    return { ...seen, [role]: { layer: state.layer, head: state.head, score, count, heads: roles.flat().length } };
  },
  matter(seen, state, { run }) {
    if (!hasPredictions(run)) return seen;
    const { scale, ...rest } = { text: state.text, scale: state.scale, mask: state.mask, heat: state.temperature };
    const key = JSON.stringify([state.model, rest, state.patch]);
    if (Object.keys(scale).length === 0) {
      const { id, text } = run.chosen;
      const now = run.top.find((guess) => guess.id === id)?.now;
      return seen?.key === key
        ? { ...seen, base: { id, text, p: now } }
        : { key, base: { id, text, p: now }, costs: {} };
    }
    const [place, ...others] = offHeads(state);
    if (seen?.key !== key || !place || others.length > 0 || Object.keys(scale).some((at) => at !== place)) return seen;
    const now = run.top.find(({ id }) => id === seen.base.id)?.now;
    if (now === undefined) return seen;
    const points = Math.round(100 * (now - seen.base.p)) + 0;
    const [layer, head] = place.split('.').map(Number);
    const found = { layer, head, points, text: seen.base.text, from: seen.base.p, to: now };
    return {
      ...seen,
      costs: { ...seen.costs, [place]: points },
      ...(points <= -FALL ? { [seen.fell && seen.fell.place !== place ? 'too' : 'fell']: { ...found, place } } : {}),
      ...(Math.abs(points) <= SAME ? { same: found } : {}),
    };
  },
  cut(seen, state, { run, cell }) {
    if (!hasPredictions(run) || !cell) return seen;
    const { id, text } = seen?.base ?? run.chosen;
    const weight = rowAt(run, cell.t)[cell.s];
    const p = run.top.find((guess) => guess.id === id)?.now;
    if (p === undefined || !isUnchanged(state)) return seen;
    if (!(lineKey(TRICK) in state.trial)) return { ...seen, base: { id, text, weight, p } };
    return seen?.base ? { ...seen, after: { weight, p } } : seen;
  },
  train: (seen) => seen,
  before: observeQuiz,
  after: observeQuiz,
};

/** Returns the tokens of the word of a text that has the most tokens. */
export function askedWord(pieces: Run['pieces']) {
  const words = pieces.map((_, t) => wordAt(pieces, t));
  return words.reduce((most, word) => (word.length > most.length ? word : most));
}

const isUnchanged = ({ model, text, temperature, mask, scale, patch }: State) =>
  model === 'whale' &&
  text === OPENING &&
  [temperature, mask, scale, patch].every((map) => Object.keys(map).length === 0);

/** Returns the index of the largest product of query and key among those where both components are positive. */
export function strongestPair({ values }: Run, { t, s }: Cell) {
  const { query, key, width } = values as HeadValues;
  let best = { index: 0, query: 0, key: 0, width };
  for (let i = 0; i < width; i++) {
    const [q, k] = [query[t * width + i], key[s * width + i]];
    if (q > 0 && k > 0 && q * k > best.query * best.key) best = { index: i, query: q, key: k, width };
  }
  return best;
}

/** Returns the log after an answer; the same object if there is nothing new. */
export function observe(log: Log, step: number, state: State, answers: Answers): Log {
  const { name } = STEPS[step];
  if (!answers.run) return log;
  const seen = OBSERVE[name](log[name], state, answers);
  return seen === log[name] || JSON.stringify(seen) === JSON.stringify(log[name]) ? log : { ...log, [name]: seen };
}

export const opened = (log: Log): Log => ({ ...log, train: { opened: true } });

/** Returns the log after the visitor has returned from training. */
export const trained = (log: Log, { steps, right }: { steps: number; right: number | undefined }): Log => ({
  ...log,
  train: { opened: true, ...(steps > 0 && { steps, right }) },
});
