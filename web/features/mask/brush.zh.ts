// 用画笔画遮罩时的文字，中文。

export const brush = {
  lead: '手绘遮罩',
  hide: '遮住',
  show: '恢复',
  hideAbout: '涂过的格子：这些键看不到了。',
  showAbout: '涂过遮住的格子：又看得到了。',
  tools: '画笔',
  in: '用于',
  clear: '清除',
  done: '完成',
  how: '在图上涂，也可用方向键和空格键。',
  onPhone: '用手指在图上涂。',
  unlinked: '画得太多，链接放不下：地址里没有它。',
  count: (n: number) => (n === 0 ? '没有遮住的格子' : `遮住了 ${n} 格`),
  hidden: (query: string, key: string) => `${query} 不再看得到 ${key}`,
  shown: (query: string, key: string) => `${query} 又看得到 ${key}`,
};
