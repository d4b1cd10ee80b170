// The texts around the steps of the story in Chinese that are needed only while the story is open.

import type { panel as en } from './panel.en.ts';

export const panel: typeof en = {
  of: (step, all, part) => `故事，第 ${step} 步${part > 0 ? `（第 ${part} 部分）` : ''}，共 ${all} 步`,
  link: '本步链接',
  dots: '故事的各步',
  dot: (step, part, title, done) =>
    `第 ${step} 步${part > 0 ? `（第 ${part} 部分）` : ''}：${title}${done ? '，已完成' : ''}`,
  back: '上一步',
  next: (title) => `下一步：${title}`,
  end: '自己继续探索',
  free: '阅读时可以照常使用页面。',
  tokens: '这段文本的词元及其编号',
  others: (n) => (n === 0 ? '别无其他' : `加上另外 ${n} 个值`),
  adds: '加到 logit 上：',
  score: '分数',
  weight: '权重',
  youRight: '✓ 你的预测，对',
  youWrong: '✗ 你的预测',
  seen: '✓ 结果',
  said: (choice, isRight) => `${isRight ? '✓' : '✗'} 你的预测：${choice}`,
  inside: (layer, head) => `第 ${layer} 层第 ${head} 个头的内部`,
  knob: (token) => `${token} 的查询中的一个数`,
  from: (token) => `来自“${token}”`,
  otherPairs: (n, sum) => `另外 ${n} 对：${sum}`,
  was: (weight) => `（原为 ${weight}）`,
  ofWholeRow: '占整行',
  line: (from, to) => `从 ${from} 到 ${to} 的键的线`,
  feeds: (to) => `进入 ${to} 的键`,
  isCut: '已切断',
};
