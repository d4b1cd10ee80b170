// 图片的小块，中文。

export const patches = {
  isQuery: '是查询。',
  point: '指另一块，它就成为查询。',
  ask: (name: string) => `查询：${name}`,
  weights: ['', '看每一块看多少'],
  weightsAbout: '作为查询的小块给每一块的权重',
  walk: '用方向键走动',
};
