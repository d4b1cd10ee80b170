// Texts about sentences for a picture, in English.

export const textImage = {
  title: 'Which sentence fits',
  all: 'Share of each sentence among all of them: they sum to 100%.',
  each: 'Each sentence on its own: how probable it is that it belongs to the picture.',
  cosine: (x: string) => `The cosine of its vector and that of the picture is ${x}.`,
  picture: 'Choose another picture',
  sentence: (n: number, all: number) => `Sentence ${n} of ${all}`,
  empty: 'a sentence about the picture',
  add: 'Add a sentence',
  remove: (text: string) => `Remove “${text}”`,
};
