// The texts around the steps of the story, in Chinese.

/** @type {typeof import('./story.en.js').story} */
export const story = {
  name: '故事',
  of: (step, all) => `故事，第 ${step} 步，共 ${all} 步`,
  dots: '故事的各步',
  dot: (step, title, done) => `第 ${step} 步：${title}${done ? '，已完成' : ''}`,
  open: '打开故事',
  leave: '离开故事',
  back: '上一步',
  next: (title) => `下一步：${title}`,
  end: '自己继续探索',
  free: '阅读时，页面上的一切照常可用。',
  tokens: '这段文本的词元及其编号',
  points: (points) => `${points} 个百分点`,
  cost: '关闭这个头使猜测的概率变化多少',
  others: (n) => (n === 0 ? '别无其他' : `加上另外 ${n} 个值`),
  score: '分数',
  weight: '权重',
  you: '你的预测',
  seen: '结果',
  said: (choice) => `你的预测：${choice}`,
};
