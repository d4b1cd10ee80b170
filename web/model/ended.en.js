// What is said when the worker has ended, in English.

export const texts = {
  ended:
    'What computes here was ended by the browser, perhaps for want of memory, and has begun anew. ' +
    'What you set is as it was.',
  training: 'The model in training is as this browser last kept it.',
  lost: (/** @type {string} */ names) => `Lost is what was open: ${names}. Open it again.`,
};
