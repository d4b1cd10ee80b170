// 图片的小块，中文。

export const patches = {
  asks: '在问。',
  point: '指另一块，就由它来问。',
  ask: (/** @type {string} */ name) => `由 ${name} 来问`,
  weights: ['', '看每一块看多少'],
  weightsAbout: '发问的小块给每一块的权重',
  walk: '用方向键走动',
};
