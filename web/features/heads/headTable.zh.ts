// 所有头的表，中文。

export const table = {
  title: '所有的头',
  about: '每个头的作用，以及对这段文字的词元取平均。点列名排序，点一行看那个头。',
  head: '头',
  role: '作用',
  columns: {
    entropy: '熵（比特）',
    distance: '距离',
    induction: '归纳',
    previous: '前一个',
    duplicate: '同词',
    itself: '自己',
    first: '第一个',
  },
  save: '存为 CSV',
  shown: '只计画出的帧，不计其后的静音。',
  large: '文字太长，只读了所显示的头。',
};
