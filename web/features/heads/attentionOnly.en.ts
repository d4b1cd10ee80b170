// Texts about heads without a language model, in English.

export const heads = {
  about: 'About these heads',
  constructed: [
    'These heads were not learned: the weights of each were written by hand, so that it does one thing.',
    'Each number of a query or key stands for a place in the sentence: the head looks where both are large.',
  ],
  patches: [
    'Six heads whose weights were written by hand.',
    'Point at a patch: the squares show where it looks. 3·11 is row 3, column 11. Drop your own picture anywhere.',
  ],
  layer: (T: number, S: number, width: number) =>
    `${T === S ? `${T} tokens` : `${T} queries, ${S} keys`}, ${width} wide.`,
  unprojected: 'Queries, keys and values of the file: their attention is computed here.',
  projected: 'A layer’s weights from your file, and what goes into it: its attention is computed here.',
  batch: (n: number) => `A batch of ${n}: choose which entry is shown above the picture.`,
  split: 'heads',
  noTokens: 'No tokens are in the file: they are numbered. Paste a JSON list of them to name them.',
};
