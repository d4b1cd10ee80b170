// Texts of sums of rows or columns, in Chinese.

import type { texts as en } from './sums.en.ts';

export const texts: typeof en = {
  title: '行或列的和',
  summed: '，求和',
  rows: '这些查询合起来对每个键的关注。',
  columns: '每个查询对这些键合起来的关注。',
  asRows: '作为查询',
  asColumns: '作为键',
  axis: '词元如何相加',
  close: '关闭',
  keys: '在标签上拖动，或按 Shift 和方向键，可以加上其他的。按住 Control 点击加上一个。',
  spoken: (names, most, weight) => `${names}，求和。最大：${most}，${weight}。`,
};
