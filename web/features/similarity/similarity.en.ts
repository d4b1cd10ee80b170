// Texts about two sentences, in English.

export const similarity = {
  title: 'How similar two sentences are',
  second: 'Another sentence',
  cosine: 'cosine',
  about: 'The angle between their vectors, as a cosine: 1 is the same meaning, 0 has nothing to do with it.',
  shares: 'Shares of the tokens',
  sharesAbout: 'A vector is the mean of its tokens’ states: the shares of all tokens sum to the cosine.',
  first: 'A vector is the state of the first token.',
  last: 'A vector is the state of the last token.',
  max: 'A vector has the largest value of all tokens in each channel.',
  share: (token: string, share: string, whole: string) => `${token}: ${share} of ${whole}`,
};
