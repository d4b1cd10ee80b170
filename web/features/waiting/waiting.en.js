// The texts about a run that is awaited or has failed, in English.

export const texts = {
  computing: 'Computing …',
  layers: (/** @type {number} */ tokens, /** @type {number} */ done, /** @type {number} */ total) =>
    `Computing ${tokens} tokens: ${done} of ${total} layers are done.`,
  greyIsOld: 'What is grey belongs to the previous run.',
  stop: 'Stop',
  failed: 'This run failed.',
  back: 'Back to the previous run',
  again: 'Try again',
};
