// Texts of the words that the model has written, in Chinese.

import type { texts as en } from './written.en.ts';

export const texts: typeof en = {
  title: '它写的词',
  about: '逐个词元写下时：',
  columns: ['写了', '概率', '最关注'],
  signs: '小数字表示是哪个词元。',
  goOn: '继续写',
  stop: '停止',
  playBack: '从头回放',
  save: '保存这些行，CSV',
  csv: ['词元', '概率', '最关注', '位置', '权重'],
  play: '播放',
  pause: '暂停',
  writeOn: '续写',
  step: '前进一个词元',
  rows: '显示的行',
  yours: (n, all) => `你写的，${all} 中的 ${n}`,
  written: (n, all) => `写出的，${all} 中的 ${n}`,
  notYet: '…',
};
