// Texts of the comparison of two runs, in English.

export const texts = {
  now: 'Now',
  old: 'Pinned',
  inTraining: (/** @type {boolean} */ isBefore, /** @type {number} */ step) =>
    isBefore ? { name: 'Before', text: 'as it comes' } : { name: 'Now', text: `after ${step} steps on your text` },
  nothing: 'Nothing to compare with yet',
  how: ['Pin this run.', 'Then change the model below, or write another sentence.', 'Both are shown here.'],
  pin: 'Pin this run',
  same: 'Both runs are the same so far: change the model below, or write another sentence at the top.',
  guesses: 'guesses',
  difference: 'Now minus pinned',
  equal: 'No weight of this head differs.',
  noPairs: 'The texts begin and end differently: there are no pairs to subtract. Look at them side by side.',
  signed: 'Difference of two weights, from −1 to 1',
  alone: 'A dot: only one of the texts has this pair of tokens.',
  nowIn: (/** @type {string} */ head) => `Now, ${head}. Arrow keys walk the cells`,
  oldIn: (/** @type {string} */ head) => `The pinned run, ${head}. Arrow keys walk the cells`,
  differenceIn: (/** @type {string} */ head) => `Now minus pinned, ${head}. Arrow keys walk the cells`,
  both: (/** @type {string} */ q, /** @type {string} */ k, /** @type {string} */ a, /** @type {string} */ b) =>
    `Attention from ${q} to ${k}: ${a} now, ${b} pinned`,
  nowhere: 'not in it',
  weight: 'weight',
  score: 'score',
  adds: ['adds to', ''],
  table: 'This cell',
  row: ['Where', 'looks'],
  rowAbout: 'What differs most comes first.',
  key: 'key',
  columns: ['now', 'pinned', 'difference'],
};
