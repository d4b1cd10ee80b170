// 两次运行的比较所用的文字。

import type { texts as en } from './compare.en.ts';

export const texts: typeof en = {
  now: '现在',
  old: '固定的',
  inTraining: (isBefore, step) =>
    isBefore ? { name: '之前', text: '原来的模型' } : { name: '现在', text: `在您的文本上训练 ${step} 步之后` },
  nothing: '还没有可比较的',
  how: ['先固定这次运行。', '再在下面改动模型，或写另一句话。', '两者就并列在这里。'],
  pin: '固定这次运行',
  same: '两次运行至今相同：请在下面改动模型，或在上面写另一句话。',
  guesses: '猜测',
  difference: '现在减去固定的',
  equal: '这个头的权重没有差别。',
  noPairs: '两段文本首尾都不同，没有可相减的词元对。请看并列。',
  signed: '两个权重之差，从 −1 到 1',
  alone: '点表示：这一对词元只在其中一段文本里。',
  nowIn: (head) => `现在，${head}。用方向键逐格移动`,
  oldIn: (head) => `固定的运行，${head}。用方向键逐格移动`,
  differenceIn: (head) => `现在减去固定的，${head}。用方向键逐格移动`,
  both: (q, k, a, b) => `${q} 对 ${k} 的注意力：现在 ${a}，固定的 ${b}`,
  nowhere: '其中没有',
  weight: '权重',
  score: '分数',
  adds: ['给', '加上'],
  table: '这一格',
  row: ['', '看哪里'],
  rowAbout: '差别最大的在前。',
  key: '键',
  columns: ['现在', '固定的', '差'],
};
