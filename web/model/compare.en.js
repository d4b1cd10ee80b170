// What the comparison of two runs says, in English.

export const texts = {
  now: 'Now',
  old: 'Pinned',
  nothing: 'Nothing to compare with yet',
  how: ['Pin this run.', 'Then change the model below, or write another sentence.', 'Both stand here.'],
  pin: 'Pin this run',
  same: 'Both runs are the same so far: change the model below, or write another sentence at the top.',
  guesses: 'guesses',
  difference: 'Now less pinned',
  noPairs: 'The texts begin and end differently: there are no pairs to subtract. Look at them side by side.',
  signed: 'Difference of two weights, from −1 to 1',
  alone: 'A dot: the pair of tokens stands in one of the texts alone.',
  nowIn: (/** @type {string} */ head) => `Now, ${head}. Arrow keys walk the cells`,
  oldIn: (/** @type {string} */ head) => `The pinned run, ${head}. Arrow keys walk the cells`,
  differenceIn: (/** @type {string} */ head) => `Now less pinned, ${head}. Arrow keys walk the cells`,
  both: (/** @type {string} */ q, /** @type {string} */ k, /** @type {string} */ a, /** @type {string} */ b) =>
    `Attention from ${q} to ${k}: ${a} now, ${b} pinned`,
  nowhere: 'not in it',
  weight: 'weight',
  score: 'score',
  adds: (/** @type {string} */ token) => `adds to ${token}`,
  table: 'This cell',
  row: (/** @type {string} */ token) => `Where ${token} looks`,
  rowAbout: 'What differs most comes first.',
  key: 'key',
  columns: ['now', 'pinned', 'difference'],
};
