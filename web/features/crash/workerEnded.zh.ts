// The message after the worker has crashed, in Chinese.

import type { texts as en } from './workerEnded.en.ts';

export const texts: typeof en = {
  ended: '浏览器终止了计算，可能是内存不足；现已用您的设置重新开始。',
  training: '训练中的模型恢复到浏览器最后保存的样子。',
  lost: (names) => `打开过的模型已丢失：${names}。请重新打开。`,
};
