// The texts around the steps of the story in English that are needed only while the story is open.

export const panel = {
  of: (/** @type {number} */ step, /** @type {number} */ all) => `Story, step ${step} of ${all}`,
  dots: 'Steps of the story',
  dot: (/** @type {number} */ step, /** @type {string} */ title, /** @type {boolean} */ done) =>
    `Step ${step}: ${title}${done ? ', done' : ''}`,
  back: 'Back',
  next: (/** @type {string} */ title) => `Next: ${title}`,
  end: 'Continue alone',
  free: 'Everything on the page works while you read.',
  tokens: 'The text in tokens, each with its number',
  others: (/** @type {number} */ n) =>
    n === 0 ? 'nothing else' : n === 1 ? 'plus one other value' : `plus ${n} other values`,
  score: 'score',
  weight: 'weight',
  you: 'you',
  seen: 'seen',
  said: (/** @type {string} */ choice) => `Your prediction: ${choice}`,
  inside: (/** @type {number} */ layer, /** @type {number} */ head) => `Inside layer ${layer}, head ${head}`,
  knob: (/** @type {string} */ token) => `A number of the query of ${token}`,
  from: (/** @type {string} */ token) => `from “${token}”`,
  otherPairs: (/** @type {number} */ n, /** @type {string} */ sum) => `${n} other pairs: ${sum}`,
  was: (/** @type {string} */ weight) => `(was ${weight})`,
  ofWholeRow: 'of the whole row',
  line: (/** @type {string} */ from, /** @type {string} */ to) => `line from head ${from} to the keys of ${to}`,
  feeds: (/** @type {string} */ to) => `goes into the keys of ${to}`,
  isCut: 'cut',
};
