// Texts of the trace, in English.

export type Part = 'stream' | 'heads' | 'mlp' | 'head';

const count = (n: number, one: string) => `${n} ${one}${n === 1 ? '' : 's'}`;

export const texts = {
  title: 'Where the answer changes between two sentences',
  upper: 'take from',
  lower: 'put into',
  write: (which: string, sentence: string) => `${which}: ${sentence}. Write another sentence`,
  sentenceOf: (which: string) => `The sentence “${which}”`,
  takeThis: 'OK',
  begin: 'Where does the answer change?',
  beginAbout: [
    'Two sentences differ in one word, and get different answers.',
    'Each place in turn is given its value from the upper sentence. The colour shows how far the answer moves towards the upper one.',
  ],
  tasks: {
    indirect: ['Who gets the bag?', 'indirect object', 'When John and Mary …, John gave the bag to', 'Mary'],
    induction: ['What came next last time?', 'induction', '… gave the ship to me. They gave the', 'ship'],
    greater: ['Which year comes later?', 'greater-than', 'The war lasted from the year 1762 to the year 17', '63 … 99'],
    agreement: ['One or many?', 'agreement', 'The keys near the old house', 'are'],
    gender: ['He or she?', 'gender', 'The queen went home, because', 'she'],
    own: ['Two sentences of your own', '', '', ''],
  },
  needs: {
    indirect: 'needs names as single tokens',
    induction: 'needs nouns as single tokens',
    greater: 'needs two-digit numbers as single tokens',
    agreement: 'needs nouns, “is” and “are” as single tokens',
    gender: 'needs “he” and “she” as single tokens',
  },
  pairs: (n: number) => count(n, 'pair'),
  task: 'Task',
  sentence: 'sentence',
  pair: (at: number, n: number) => `${at} of ${n}`,
  allPairs: (n: number) => `all ${n}, mean`,
  measured: 'measured by',
  by: {
    score: (a: string, b: string) => `score of ${a} − ${b}`,
    probability: (a: string) => `probability of ${a}`,
    log: (a: string) => `log-probability of ${a}`,
  },
  byAbout: {
    score: 'The difference of the two answers before the softmax. It changes evenly with what the model adds.',
    probability: 'The share of the upper answer among all next words.',
    log: 'Its logarithm.',
  },
  ownWords: 'two words of your own…',
  likeliest: 'the likeliest word of each sentence',
  firstWord: 'answer of the upper sentence',
  secondWord: 'answer of the lower sentence',
  asTable: 'as a table',
  asGrid: 'as a picture',
  places: (n: number) => count(n, 'place'),
  heads: (n: number) => count(n, 'head'),
  done: (n: number, all: number) => `${n} of ${count(all, 'place')}`,
  left: (seconds: number) => (seconds < 90 ? `${seconds} s left` : `${Math.round(seconds / 60)} min left`),
  stop: 'Stop',
  goOn: 'Continue',
  again: 'Measure again',
  running: 'Running both sentences …',
  same: 'the same in both runs: nothing to patch',
  eachToken: 'each token, each layer',
  eachHead: 'each head by itself',
  layer: (layer: number) => `layer ${layer}`,
  parts: { stream: 'stream', heads: 'heads', mlp: 'feed-forward', head: 'each head' },
  partOf: 'Part of each layer',
  gridAbout:
    'How much of the answer returns, by layer and token. Arrow keys walk, Shift with up and down changes the part of the layer, Enter opens the instrument, p patches, Space stops and continues',
  // The name of a place as it is spoken and written.
  placeName: (part: Part, layer: number, word: string) =>
    part === 'head'
      ? `Layer ${layer}, head ${word}`
      : `Layer ${layer}, ${{ stream: 'stream', heads: 'heads', mlp: 'feed-forward' }[part]}, at “${word}”`,
  returns: (share: string) => `${share}% returns`,
  notYet: 'not measured yet',
  sameThere: 'the same in both runs',
  share: (share: string) => `${share}% of the answer returns`,
  when: {
    stream: ['when the input of ', (l: number) => `layer ${l}`, ' at ', ' is that of the upper sentence.'],
    heads: ['when the heads of ', (l: number) => `layer ${l}`, ' write the same at ', ' as in the upper sentence.'],
    mlp: [
      'when the feed-forward part of ',
      (l: number) => `layer ${l}`,
      ' writes the same at ',
      ' as in the upper sentence.',
    ],
  },
  whenHead: ['when ', (name: string) => `head ${name}`, ' writes the same at every word as in the upper sentence.'],
  headName: (layer: number, head: number) => `${layer}.${head}`,
  away: 'Below zero: the lower answer gains.',
  beyond: 'Over 100: more than in the upper sentence.',
  next: 'Next token',
  before: 'before, in the lower sentence',
  measure: {
    score: 'Score of',
    probability: 'Probability of',
    log: 'Log-probability of',
  },
  lowerAt: (value: string) => `lower ${value}`,
  upperAt: (value: string) => `upper ${value}`,
  byHead: 'By head',
  alone: 'each alone',
  others: (n: number) => count(n, 'other'),
  notSum: (share: string) => `Alone they need not add up to ${share}.`,
  // Which head carries the answer to a token; null for the heads of the layer together.
  carries: (layer: number, head: number | null) => [
    head === null
      ? `In layer ${layer}, the heads carry it to `
      : `In layer ${layer}, head ${layer}.${head} carries it to `,
    '.',
  ],
  upTo: (layer: number) => `Up to the input of layer ${layer} the answer is at `,
  // first: true if this part begins the sentence
  within: (a: number, b: number, first: boolean) =>
    `${a === b ? `into layer ${a}` : `into layers ${a} to ${b}`}${first ? ' the answer is' : ''} at `,
  from: (layer: number, first: boolean) => `from the input of layer ${layer}${first ? ' the answer is' : ''} at `,
  comma: ', ',
  period: '.',
  everywhere: 'At the input of every layer the answer is at ',
  nowhere: 'No single token has over half of the answer.',
  soFar: 'So far: ',
  measuring: 'Measuring',
  measuringAbout:
    'Each place in turn is given its value from the upper sentence. The colour shows how far the answer moves towards the upper one.',
  partDone: (n: number, all: number) => (n === all ? `done, ${all} of ${all}` : n === 0 ? 'later' : `${n} of ${all}`),
  canPoint: 'Every cell that is there can be pointed at, chosen and opened.',
  result: 'Where the answer is',
  point: 'Point at a cell to see what returns there. A click patches it.',
  open: 'Open the instrument here',
  openCircuit: 'Which lines carry it? Circuit',
  example: 'What a result looks like',
  exampleAbout:
    'Drawn, not measured. Layers go upward, a column is a token. Dark: with its value from the upper sentence, this place gives the upper answer.',
  exampleLow: 'lower layers: the answer is still at the word that differs',
  exampleMoved: 'a head carries it to the last word',
  exampleHigh: 'upper layers: the last word has it',
  measure1: 'Measure this pair',
  way: (b: string, a: string) => ['of the way from ', b, ' to ', a],
  scale: 'Share of the way, from −100 to 100 percent: 0 is the lower answer, 100 the upper one',
  nothing: {
    same: 'The two sentences are the same, so the answer cannot change.',
    sameAnswer: (word: string) => `Both give “${word}” the higher score. Choose other words to compare.`,
    close: 'Too close: the shares would be noise.',
    noAnswer: (word: string) => `“${word}” is no single token here. Choose other words to compare.`,
    noPlace: 'A sentence has no masked word: nothing can be compared.',
  },
  writeOther: 'Write another sentence',
  chooseWords: 'Choose two words',
  nextPair: 'Next pair',
  patched: 'patched',
  patchedAt: (part: Part, layer: number, word: string) =>
    part === 'head'
      ? `head ${layer}.${word}`
      : `${{ stream: 'stream into', heads: 'heads of', mlp: 'feed-forward of' }[part]} layer ${layer} at “${word}”`,
  fromUpper: 'from the upper sentence',
  undo: 'Undo',
  nowPatched: (word: string, a: string, b: string) => `Patched. ${word}: ${b}, before ${a}.`,
  undone: 'The patch is undone.',
  table: {
    caption: 'Share of the answer that returns, in percent',
    layer: 'layer',
    part: 'part',
    head: 'head',
  },
};
