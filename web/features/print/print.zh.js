// 打印时图下的文字。

/** @type {typeof import('./print.en.js').texts} */
export const texts = {
  caption: (head, model) => `${model}，${head}。行是查询，列是键：格子越深，这一行看这一列越多。`,
};
