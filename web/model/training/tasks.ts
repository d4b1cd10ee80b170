// Tasks that a small transformer learns in a minute. Each generates sequences with the target at each position.

import { argumentError } from '../../../src/js/check/errors.ts';
import type { Labels, Random, Sequence, Settings, Task, TaskKind } from '../types.ts';
import { CHOICES, isLongEnough, MIN_CHARACTERS, MODELS, OWN_TEXT } from './settings.ts';

const below = (random: Random, n: number) => Math.floor(random() * n);
const LETTERS = [...'abcdefghijklmnopqrstuvwxyz'];
const DIGITS = [...'0123456789'];

function shuffled(random: Random, values: Iterable<number>) {
  const list = [...values];
  for (let i = list.length - 1; i > 0; i--) {
    const j = below(random, i + 1);
    [list[i], list[j]] = [list[j], list[i]];
  }
  return list;
}

/** The target of a position that has no loss. */
const NONE = -100;

/** Returns a sequence of an input, a mark, and the output. Only the mark and the positions after it have targets. */
function answered(read: number[], mark: number, written: number[]): Sequence {
  const tokens = [...read, mark, ...written];
  return { tokens: tokens.slice(0, -1), targets: tokens.slice(1).map((token, t) => (t < read.length ? NONE : token)) };
}

/** tokens: names of labels; sequence: labels and targets; goal: accuracy reached within `training.steps` steps */
export const TASKS: Record<string, TaskKind> = {
  repeat: {
    tokens: LETTERS,
    context: 63,
    /** Letters with a random period, so that a position alone does not determine the next letter. */
    sequence(random) {
      const period = 8 + below(random, 18);
      const letters = shuffled(random, LETTERS.keys()).slice(0, period);
      const all = Array.from({ length: 64 }, (_, t) => letters[t % period]);
      return { tokens: all.slice(0, -1), targets: all.slice(1).map((token, t) => (t < period ? NONE : token)) };
    },
    model: MODELS.repeat,
    training: { rate: 0.003, batch: 32, steps: 600 },
    goal: 0.95,
  },
  previous: {
    tokens: LETTERS,
    context: 24,
    sequence(random) {
      const tokens = Array.from({ length: 24 }, () => below(random, 26));
      return { tokens, targets: tokens.map((_, t) => (t === 0 ? NONE : tokens[t - 1])) };
    },
    model: MODELS.previous,
    training: { rate: 0.003, batch: 32, steps: 300 },
    goal: 0.98,
  },
  copy: {
    tokens: [...LETTERS, '|'],
    context: 24,
    sequence(random) {
      const read = Array.from({ length: 12 }, () => below(random, 26));
      return answered(read, 26, read);
    },
    model: MODELS.copy,
    training: { rate: 0.003, batch: 32, steps: 600 },
    goal: 0.98,
  },
  reverse: {
    tokens: [...LETTERS, '|'],
    context: 24,
    sequence(random) {
      const read = Array.from({ length: 12 }, () => below(random, 26));
      return answered(read, 26, read.toReversed());
    },
    model: MODELS.reverse,
    training: { rate: 0.003, batch: 32, steps: 600 },
    goal: 0.98,
  },
  sort: {
    tokens: [...DIGITS, '|'],
    context: 16,
    sequence(random) {
      const read = Array.from({ length: 8 }, () => below(random, 10));
      return answered(
        read,
        10,
        read.toSorted((a, b) => a - b),
      );
    },
    model: MODELS.sort,
    training: { rate: 0.003, batch: 32, steps: 800 },
    goal: 0.95,
  },
  brackets: {
    tokens: ['(', '[', '{', '·'],
    context: 24,
    /** Brackets with openers of three kinds, and one closer for all. The target is the kind that the closer closes. */
    sequence(random) {
      const [tokens, targets, open]: [number[], number[], number[]] = [[], [], []];
      while (tokens.length < 24) {
        const left = 24 - tokens.length;
        const opens = open.length === 0 || (open.length < 4 && open.length < left && random() < 0.5);
        if (opens) open.push(below(random, 3));
        tokens.push(opens ? open[open.length - 1] : 3);
        targets.push(opens ? NONE : (open.pop() as number));
      }
      return { tokens, targets };
    },
    model: MODELS.brackets,
    training: { rate: 0.003, batch: 32, steps: 1200 },
    goal: 0.95,
  },
  recall: {
    tokens: [...LETTERS.slice(0, 8), ...DIGITS],
    context: 32,
    /** Letters and their digits, from four fixed pairs. The target is the digit of a letter that occurred before. */
    sequence(random) {
      const keys = shuffled(random, Array(8).keys()).slice(0, 4);
      const digits = keys.map(() => 8 + below(random, 10));
      const [tokens, targets, seen]: [number[], number[], Set<number>] = [[], [], new Set()];
      while (tokens.length < 32) {
        const i = below(random, 4);
        tokens.push(keys[i], digits[i]);
        targets.push(seen.has(i) ? digits[i] : NONE, NONE);
        seen.add(i);
      }
      return { tokens, targets };
    },
    model: MODELS.recall,
    training: { rate: 0.003, batch: 32, steps: 600 },
    goal: 0.95,
  },
};

/**
 * Returns held-out sequences. Every task except a text can generate any number of new sequences, so none is reserved.
 */
export const validationBatchOf = (task: TaskKind, random: Random, count: number) =>
  batchOf({ sequence: task.heldOut ?? task.sequence }, random, count);

/** Returns a batch of sequences in the format of the core. */
export function batchOf(
  task: Pick<TaskKind, 'sequence'>,
  random: Random,
  count: number,
): { labels: Labels; targets: Labels } {
  const sequences = Array.from({ length: count }, () => task.sequence(random));
  const T = sequences[0].tokens.length;
  const join = (name: keyof Sequence) => ({
    data: Int32Array.from(sequences.flatMap((sequence) => sequence[name])),
    shape: [count, T],
  });
  return { labels: join('tokens'), targets: join('targets') };
}

/** Throws if the settings of a file are not valid here. */
export function checkSettings(settings: any) {
  if (typeof settings !== 'object' || settings === null) throw argumentError('load', 'settings', settings, 'an object');
  for (const [name, choices] of Object.entries(CHOICES))
    if (!(choices as unknown[]).includes(settings[name]))
      throw argumentError('load', `settings.${name}`, settings[name], `one of ${choices.join(', ')}`);
  if (settings.task === OWN_TEXT && !(typeof settings.text === 'string' && isLongEnough(settings.text)))
    throw argumentError('load', 'settings.text', settings.text, `at least ${MIN_CHARACTERS} characters`);
  if (!(Number.isFinite(settings.rate) && settings.rate > 0))
    throw argumentError('load', 'settings.rate', settings.rate, 'a number above 0');
  if (!(Number.isSafeInteger(settings.seed) && settings.seed >= 0))
    throw argumentError('load', 'settings.seed', settings.seed, 'a whole number, 0 or more');
}

export function usualSettings(task: Task): Settings {
  const { model, training } = TASKS[task];
  return {
    task,
    text: '',
    layers: model.layers,
    heads: model.numHeads,
    width: model.dModel,
    mlp: model.mlp > 0,
    rate: training.rate,
    optimizer: 'adamW',
    dropout: 0,
    seed: 1,
  };
}
