// Texts of the circuit, in English.

/** @import { CircuitProblem, CircuitWork } from '../../store/circuitProtocol.js' */

const many = (/** @type {number} */ n) => n.toLocaleString('en');
const lines = (/** @type {number} */ n) => (n === 1 ? '1 line' : `${many(n)} lines`);

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
  was: (/** @type {string} */ percent) => `was ${percent}`,
  keep: (/** @type {number} */ n, /** @type {number} */ percent) => `${lines(n)} keep${n === 1 ? 's' : ''} ${percent}%`,
  keepOf: (/** @type {boolean} */ paired) => `of the ${paired ? 'lead' : 'probability'} of `,
  others: (/** @type {number} */ n) => `, with ${n === 1 ? 'the 1 other line' : `all ${many(n)} other lines`} cut.`,
  few: (/** @type {number} */ n, /** @type {number} */ all) => `The ${n} strongest of ${lines(all)}`,
  all: (/** @type {number} */ n) => `Show all ${n} lines`,
  strongest: (/** @type {number} */ n) => `Show only the ${n} strongest`,
  howMany: 'how many lines are kept',
  random: 'the same number, chosen at random',
  list: 'Lines, the strongest first',
  points: (/** @type {string} */ word, /** @type {string} */ percent) => [
    'In points of ',
    word,
    `’s ${percent}. Each was measured with only that line cut; they need not add up.`,
  ],
  needed: (/** @type {number} */ n) =>
    `Lines that are not needed to keep 90% were left out, one by one. The ${n} that remain come first.`,
  words: 'embedding',
  mlp: (/** @type {number} */ l) => `feed-forward ${l}`,
  // The name of a part with a second token at which a large share of its attribution is.
  also: (/** @type {string} */ name, /** @type {string} */ word) => `${name}, also at “${word}”`,
  mlpShort: (/** @type {number} */ l) => `ff ${l}`,
  head: (/** @type {number} */ l, /** @type {number} */ h) => `${l}.${h}`,
  inputOf: (/** @type {string} */ input, /** @type {string} */ head) => `${input} of ${head}`,
  inputs: { query: 'query', key: 'key', value: 'value' },
  wasCost: (/** @type {string} */ points) => `was ${points}`,
  cut: 'cut',
  spoken: (/** @type {string} */ name, /** @type {string} */ points) => `${name}: ${points} points if it is cut`,
  spokenCut: (/** @type {string} */ name) => `${name}: cut`,
  isCut: (/** @type {string} */ word, /** @type {string} */ before, /** @type {string} */ now) =>
    `Cut. ${word} went from ${before} to ${now}.`,
  reconnected: 'Reconnected.',
  cuts: (/** @type {number} */ n) => (n === 1 ? 'One line is cut' : `${n} lines are cut`),
  noLonger: (/** @type {string} */ from, /** @type {string} */ to) => [
    from,
    ' no longer reaches the ',
    to,
    '. Everything else runs as before.',
  ],
  before: 'before the cut',
  lead: ['lead of ', ', in score'],
  looks: (/** @type {string} */ head) => [`${head} looks at `, ''],
  off: (/** @type {string} */ source) => `switching ${source} off costs`,
  inPoints: (/** @type {string} */ n) => (n === '1' ? '1 point' : `${n} points`),
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
  stages: /** @type {Record<CircuitWork['stage'], (n: number, all: number) => string>} */ ({
    corpus: (n, all) => `reading passage ${n} of ${all}`,
    order: (n, all) => `ordering the lines, ${n} of ${all}`,
    lines: (n, all) => `line ${n} of ${all}`,
    needed: (n) => `leaving lines out, run ${n}`,
    curve: (n, all) => `curve, ${n} of ${all}`,
    done: () => '',
  }),
  left: (/** @type {number} */ seconds) =>
    seconds < 90 ? `${seconds} s left` : `${Math.round(seconds / 60)} min left`,
  stop: 'Stop',
  goOn: 'Continue',
  running: 'Running the sentence …',
  tooLarge: (/** @type {number} */ n, /** @type {number} */ percent) =>
    `No small circuit: ${lines(n)} keep ${percent}%. Try another pair of words.`,
  problems: /** @type {Record<CircuitProblem, (cause: string, lengths: number[]) => string>} */ ({
    refused: (family) => `${family} has no lines to cut: its parts do not add up in the residual stream.`,
    packed: () => 'The weights of this model are stored in 8 bits: the lines cannot be ordered. Open it in 16 bits.',
    length: (_, [a, b]) =>
      `This sentence has ${a} tokens, the other one ${b}. A line can carry it only if they are as many.`,
    close: () => 'Too close: the shares would be noise.',
    noAnswer: (word) => `“${word}” is no single token here. Choose other words to compare.`,
    noPlace: () => 'There is no token to explain.',
  }),
  useMean: 'Use the corpus mean',
  drawing: (/** @type {number} */ n) =>
    `The circuit, ${lines(n)}. Up and down walk the lines, x cuts one, left and right change how many are kept, Escape closes`,
};
