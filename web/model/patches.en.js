// A picture in patches, in English.

export const patches = {
  asks: 'asks.',
  point: 'Point at another patch: it asks.',
  ask: (/** @type {string} */ name) => `${name} asks`,
  weights: ['How much', 'looks at each patch'],
  weightsAbout: 'The weights that the asking patch gives to each patch',
  walk: 'Arrow keys walk the patches',
};
