// 两句话旁边的文字，中文。

export const similarity = {
  title: '两句话有多像',
  second: '另一句话',
  cosine: '余弦',
  about: '两个向量夹角的余弦：1 是意思相同，0 是毫不相关。',
  shares: '各词元的份额',
  sharesAbout: '一句话的向量是各词元状态的平均：所有词元的份额之和就是余弦。',
  first: '一句话的向量是第一个词元的状态。',
  last: '一句话的向量是最后一个词元的状态。',
  max: '一句话的向量在每个通道取各词元的最大值。',
  share: (token: string, share: string, whole: string) => `${token}：${whole} 中的 ${share}`,
};
