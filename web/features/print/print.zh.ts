// 打印时图下的文字。

export const texts: typeof import('./print.en.ts').texts = {
  caption: (head, model) => `${model}，${head}。行是查询，列是键：格子越深，这一行看这一列越多。`,
};
