// The lines that end the first visit, in Chinese.

import type { texts as en } from './closing.en.ts';

export const texts: typeof en = {
  end: '第一分钟到此为止。',
  story: ['接着看', '：九步，从词元讲到训练。或者'],
  train: '一个小模型，看它的头怎样形成。',
};
