// The texts of the first visit in English.

const ONES = 'zero one two three four five six seven eight nine ten eleven twelve'.split(' ');
/** @type {Record<number, string>} */
const ROUND = { 15: 'fifteen', 16: 'sixteen', 18: 'eighteen', 20: 'twenty', 24: 'twenty-four', 30: 'thirty' };
const inWords = (/** @type {number} */ n) => ONES[n] ?? ROUND[n] ?? String(n);
const capital = (/** @type {string} */ word) => word[0].toUpperCase() + word.slice(1);

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
  why: (/** @type {string} */ weight) => `Why ${weight}?`,
  skip: 'Skip and show everything',
  skipShort: 'Skip',
  replay: 'Replay the first minute',
  note: '',
  wordsTitle: 'Every word looks back',
  words: (/** @type {string} */ word) =>
    `Each word is at the end of its row. Read along a row: how much “${word}” looks at each earlier word and at itself. A stronger colour means more. Each row adds up to 1.`,
  found: (/** @type {number} */ n) =>
    `Here the last ${n === 1 ? 'row finds its' : `${inWords(n)} rows find their`} words earlier.`,
  nothing: 'A row that finds nothing looks mostly at the first word.',
  headsTitle: (/** @type {number} */ layers, /** @type {number} */ heads) =>
    `${capital(inWords(layers * heads))} heads`,
  heads: (/** @type {number} */ layers, /** @type {number} */ heads) =>
    `The model has ${inWords(layers)} layers of ${inWords(heads)} heads. Each small picture is one head, drawn like the large one.`,
  sum: 'Their results add up, layer by layer from the bottom to the top. The sum makes the guess.',
  spoken: (/** @type {boolean} */ on, /** @type {string} */ guess) =>
    `Head ${on ? 'on' : 'off'}. The guess is now ${guess}.`,
  spokenCases: (/** @type {string} */ word, /** @type {string} */ on, /** @type {string} */ off) =>
    `${word}: ${on} with the head on, ${off} with it off.`,
};
