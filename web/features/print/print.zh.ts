// 打印时图下的文字。

import type { texts as en } from './print.en.ts';

export const texts: typeof en = {
  caption: (head, model) => `${model}，${head}。行是查询，列是键：格子越深，这一行看这一列越多。`,
};
