// 与图片比较的句子旁边的文字，中文。

export const textImage = {
  title: '哪句话相符',
  all: '每句话在所有句子中的份额，合计 100%。',
  each: '每句话单独来看：它属于这张图片的概率。',
  cosine: (x: string) => `它的向量与图片向量的余弦是 ${x}。`,
  picture: '换一张图片',
  sentence: (n: number, all: number) => `第 ${n} 句，共 ${all} 句`,
  empty: '一句关于图片的话',
  add: '添加一句话',
  remove: (text: string) => `删除“${text}”`,
};
