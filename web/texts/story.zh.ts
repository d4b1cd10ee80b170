// The texts of the story that the rest of the page shows, in Chinese.

import type { story as en } from './story.en.ts';

export const story: typeof en = {
  name: '故事',
  open: '打开故事',
  leave: '离开故事',
  points: (points) => `${points} 个百分点`,
  cost: '关闭这个头使猜测的概率变化多少',
};
