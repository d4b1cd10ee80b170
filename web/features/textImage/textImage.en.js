// Texts about sentences for a picture, in English.

export const textImage = {
  title: 'Which sentence fits',
  all: 'Share of each sentence among all of them: they sum to 100%.',
  each: 'Each sentence on its own: how probable it is that it belongs to the picture.',
  cosine: (/** @type {string} */ x) => `The cosine of its vector and that of the picture is ${x}.`,
  picture: 'Choose another picture',
  sentence: (/** @type {number} */ n, /** @type {number} */ all) => `Sentence ${n} of ${all}`,
  empty: 'a sentence about the picture',
  add: 'Add a sentence',
  remove: (/** @type {string} */ text) => `Remove “${text}”`,
};
