// The texts around the steps of the story in English that are needed only while the story is open.

export const panel = {
  of: (/** @type {number} */ step, /** @type {number} */ all, /** @type {number} */ part) =>
    `Story, step ${step} of ${all}${part > 0 ? `, part ${part}` : ''}`,
  link: 'link to this step',
  dots: 'Steps of the story',
  dot: (
    /** @type {number} */ step,
    /** @type {number} */ part,
    /** @type {string} */ title,
    /** @type {boolean} */ done,
  ) => `Step ${step}${part > 0 ? `, part ${part}` : ''}: ${title}${done ? ', done' : ''}`,
  back: 'Back',
  next: (/** @type {string} */ title) => `Next: ${title}`,
  end: 'Continue alone',
  free: 'You can use the page while you read.',
  tokens: 'The text in tokens, each with its number',
  others: (/** @type {number} */ n) =>
    n === 0 ? 'nothing else' : n === 1 ? 'plus one other value' : `plus ${n} other values`,
  adds: 'adds to the logit of',
  score: 'score',
  weight: 'weight',
  youRight: '✓ you, right',
  youWrong: '✗ you',
  seen: '✓ seen',
  said: (/** @type {string} */ choice, /** @type {boolean} */ isRight) =>
    `${isRight ? '✓' : '✗'} Your prediction: ${choice}`,
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
