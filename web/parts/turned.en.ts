// Texts about the angle by which a change turns the hidden states, in English.

export const turned = {
  title: 'Hidden states',
  by: (angle: string) => `turned by ${angle} on average`,
  about:
    'The angle between the output of the model at each token and that of the other run: its cosine is their similarity.',
  none: 'Nothing is predicted here. Switch a head off to see by what angle the output changes.',
  most: 'Most at',
};
