// Texts of the circuit, in English.

import type { CircuitProblem, CircuitWork } from '../../model/protocol/circuitProtocol.ts';

const many = (n: number) => n.toLocaleString('en');
const lines = (n: number) => (n === 1 ? '1 line' : `${many(n)} lines`);

export const texts = {
  title: 'The circuit',
  about: [
    'The connections behind ',
    ' rather than ',
    '. Width: percentage points lost if only that one is cut. Figures are those of the chosen head. A head stands above the token where it works.',
  ],
  aboutOne: [
    'The connections behind ',
    '. Width: percentage points lost if only that one is cut. Figures are those of the chosen head. A head stands above the token where it works.',
  ],
  feeds: 'goes into its',
  guess: 'the guess',
  was: (percent: string) => `was ${percent}`,
  keep: (n: number, percent: number) => `${lines(n)} keep${n === 1 ? 's' : ''} ${percent}%`,
  keepOf: (paired: boolean) => `of the ${paired ? 'lead' : 'probability'} of `,
  others: (n: number) => `, with ${n === 1 ? 'the 1 other line' : `all ${many(n)} other lines`} cut.`,
  few: (n: number, all: number) => `The ${n} strongest of ${lines(all)}`,
  all: (n: number) => `Show all ${n} lines`,
  strongest: (n: number) => `Show only the ${n} strongest`,
  howMany: 'how many lines are kept',
  random: 'the same number, chosen at random',
  list: 'Lines, the strongest first',
  points: (word: string, percent: string) => [
    'In points of ',
    word,
    `’s ${percent}. Each was measured with only that line cut; they need not add up.`,
  ],
  needed: (n: number) =>
    `Lines that are not needed to keep 90% were left out, one by one. The ${n} that remain come first.`,
  words: 'embedding',
  mlp: (l: number) => `feed-forward ${l}`,
  // The name of a part with a second token at which a large share of its attribution is.
  also: (name: string, word: string) => `${name}, also at “${word}”`,
  mlpShort: (l: number) => `ff ${l}`,
  head: (l: number, h: number) => `${l}.${h}`,
  inputOf: (input: string, head: string) => `${input} of ${head}`,
  inputs: { query: 'query', key: 'key', value: 'value' },
  wasCost: (points: string) => `was ${points}`,
  cut: 'cut',
  spoken: (name: string, points: string) => `${name}: ${points} points if it is cut`,
  spokenCut: (name: string) => `${name}: cut`,
  isCut: (word: string, before: string, now: string) => `Cut. ${word} went from ${before} to ${now}.`,
  reconnected: 'Reconnected.',
  cuts: (n: number) => (n === 1 ? 'One line is cut' : `${n} lines are cut`),
  noLonger: (from: string, to: string) => [from, ' no longer reaches the ', to, '. Everything else runs as before.'],
  before: 'before the cut',
  lead: ['lead of ', ', in score'],
  looks: (head: string) => [`${head} looks at `, ''],
  off: (source: string) => `switching ${source} off costs`,
  inPoints: (n: string) => (n === '1' ? '1 point' : `${n} points`),
  reconnect: 'Reconnect',
  undo: 'Undo',
  carries: 'a cut line carries',
  values: { other: 'the other sentence', mean: 'the corpus mean', zero: 'zero' },
  valuesAbout: {
    other: 'What its source writes in the other sentence.',
    mean: 'What its source writes on average, over passages that come with the page.',
    zero: 'Nothing.',
  },
  needsOther: 'Pin a run of another sentence with as many tokens.',
  stages: {
    corpus: (n, all) => `reading passage ${n} of ${all}`,
    order: (n, all) => `ordering the lines, ${n} of ${all}`,
    lines: (n, all) => `line ${n} of ${all}`,
    needed: (n) => `leaving lines out, run ${n}`,
    curve: (n, all) => `curve, ${n} of ${all}`,
    done: () => '',
  } as Record<CircuitWork['stage'], (n: number, all: number) => string>,
  left: (seconds: number) => (seconds < 90 ? `${seconds} s left` : `${Math.round(seconds / 60)} min left`),
  stop: 'Stop',
  goOn: 'Continue',
  running: 'Running the sentence …',
  tooLarge: (n: number, percent: number) =>
    `No small circuit: ${lines(n)} keep ${percent}%. Try another pair of words.`,
  problems: {
    refused: (family) => `${family} has no lines to cut: its parts do not add up in the residual stream.`,
    packed: () => 'The weights of this model are stored in 8 bits: the lines cannot be ordered. Open it in 16 bits.',
    length: (_, [a, b]) =>
      `This sentence has ${a} tokens, the other one ${b}. A line can carry it only if they are as many.`,
    close: () => 'Too close: the shares would be noise.',
    noAnswer: (word) => `“${word}” is no single token here. Choose other words to compare.`,
    noPlace: () => 'There is no token to explain.',
  } as Record<CircuitProblem, (cause: string, lengths: number[]) => string>,
  useMean: 'Use the corpus mean',
  drawing: (n: number) =>
    `The circuit, ${lines(n)}. Up and down walk the lines, x cuts one, left and right change how many are kept, Escape closes`,
};
