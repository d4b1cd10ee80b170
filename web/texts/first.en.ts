// The texts of the first visit in English.

const ONES = 'zero one two three four five six seven eight nine ten eleven twelve'.split(' ');
const ROUND: Record<number, string> = {
  15: 'fifteen',
  16: 'sixteen',
  18: 'eighteen',
  20: 'twenty',
  24: 'twenty-four',
  30: 'thirty',
};
const inWords = (n: number) => ONES[n] ?? ROUND[n] ?? String(n);
const capital = (word: string) => word[0].toUpperCase() + word.slice(1);

export const first = {
  about: 'see what every head of a language model looks at',
  guesses: ['The model guesses ', ':'],
  head: 'this attention head',
  looked: ['looked back,', 'found ', ' earlier, and copied the next word.'],
  copiesNothing: 'now copies nothing.',
  onArc: { on: 'this head', off: 'this head is off' },
  ask: 'Does the guess need this head? Switch it off.',
  probability: ['Probability of ', ':'],
  cases: { on: 'head on', off: 'head off' },
  needs: 'So the guess needs this head. Switch it back on.',
  needsLittle: 'So the guess hardly needs this head. Switch it back on.',
  otherWords: 'What about the other words?',
  otherHeads: 'What about the other heads?',
  why: (weight: string) => `Why ${weight}?`,
  skip: 'Skip and show everything',
  skipShort: 'Skip',
  replay: 'Replay the first minute',
  note: '',
  wordsTitle: 'Every word looks back',
  words: (word: string) =>
    `Each word is at the end of its row. Read along a row: how much “${word}” looks at each earlier word and at itself. A stronger colour means more. Each row adds up to 1.`,
  found: (n: number) => `Here the last ${n === 1 ? 'row finds its' : `${inWords(n)} rows find their`} words earlier.`,
  nothing: 'A row that finds nothing looks mostly at the first word.',
  headsTitle: (layers: number, heads: number) => `${capital(inWords(layers * heads))} heads`,
  heads: (layers: number, heads: number) =>
    `The model has ${inWords(layers)} layers of ${inWords(heads)} heads. Each small picture is one head, drawn like the large one.`,
  sum: 'Their results add up, layer by layer from the bottom to the top. The sum makes the guess.',
  spoken: (on: boolean, guess: string) => `Head ${on ? 'on' : 'off'}. The guess is now ${guess}.`,
  spokenCases: (word: string, on: string, off: string) => `${word}: ${on} with the head on, ${off} with it off.`,
};
