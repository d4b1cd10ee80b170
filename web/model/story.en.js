// The story in English. *x* is quoted, **x** stands out, {x} is what was seen.

export const story = {
  name: 'Story',
  of: (/** @type {number} */ step, /** @type {number} */ all) => `Story, step ${step} of ${all}`,
  dots: 'Steps of the story',
  dot: (/** @type {number} */ step, /** @type {string} */ title, /** @type {boolean} */ done) =>
    `Step ${step}: ${title}${done ? ', done' : ''}`,
  open: 'Open the story',
  leave: 'Leave the story',
  back: 'Back',
  next: (/** @type {string} */ title) => `Next: ${title}`,
  end: 'Go on by yourself',
  free: 'Everything on the page works while you read.',
  tokens: 'The text in tokens, each with its number',
  points: (/** @type {number} */ points) => `${points} ${Math.abs(points) === 1 ? 'point' : 'points'}`,
  cost: 'What it costs the guess to switch this head off',
  score: 'score',
  weight: 'weight',
};
