// The texts about a run that is awaited or has failed, in Chinese.

import type { texts as en } from './waiting.en.ts';

export const texts: typeof en = {
  computing: '正在计算……',
  layers: (tokens, done, total) => `正在计算 ${tokens} 个词元：已完成 ${total} 层中的 ${done} 层。`,
  greyIsOld: '灰色部分属于上一次运行。',
  stop: '停止',
  failed: '这次运行失败了。',
  back: '回到上一次运行',
  again: '重试',
};
