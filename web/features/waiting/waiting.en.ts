// The texts about a run that is awaited or has failed, in English.

export const texts = {
  computing: 'Computing …',
  layers: (tokens: number, done: number, total: number) =>
    `Computing ${tokens} tokens: ${done} of ${total} layers are done.`,
  greyIsOld: 'What is grey belongs to the previous run.',
  stop: 'Stop',
  failed: 'This run failed.',
  back: 'Back to the previous run',
  again: 'Try again',
};
