// The lines that end the first visit, in English.

export const texts = {
  end: 'That was the first minute. ',
  story: ['Go on with the ', ': nine steps, from tokens to training. Or '],
  train: ' a small model, and watch its heads form.',
};
