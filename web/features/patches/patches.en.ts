// A picture in patches, in English.

export const patches = {
  isQuery: 'is the query.',
  point: 'Point at another patch.',
  ask: (name: string) => `query: ${name}`,
  weights: ['How much', 'looks at each patch'],
  weightsAbout: 'The weights that the query patch gives to each patch',
  walk: 'Arrow keys walk the patches',
};
