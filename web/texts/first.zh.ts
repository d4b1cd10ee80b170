// The texts of the first visit in Chinese.

import type { first as en } from './first.en.ts';

const ONES = [...'零一二三四五六七八九十'];
const inWords = (n: number) =>
  n <= 10 ? ONES[n] : n < 100 ? `${n < 20 ? '' : ONES[Math.floor(n / 10)]}十${n % 10 ? ONES[n % 10] : ''}` : String(n);
/** In Chinese, the number two before a measure word is another character. */
const count = (n: number) => (n === 2 ? '两' : inWords(n));

export const first: typeof en = {
  about: '看语言模型的每个头在看什么',
  guesses: ['模型猜 ', '：'],
  head: '这个注意力头',
  looked: ['往回看，', '找到前面的 ', '，抄下了它后面的词。'],
  copiesNothing: '现在什么也不抄。',
  onArc: { on: '这个头', off: '这个头已关闭' },
  ask: '这个猜测离得开它吗？把它关掉看看。',
  probability: ['', ' 的概率：'],
  cases: { on: '头开着', off: '头关掉' },
  needs: '可见这个猜测离不开它。再把它打开。',
  needsLittle: '可见这个猜测几乎用不到它。再把它打开。',
  otherWords: '别的词呢？',
  otherHeads: '别的头呢？',
  why: (weight) => `${weight} 怎样得来？`,
  skip: '跳过，全部显示',
  skipShort: '跳过',
  replay: '重看第一分钟',
  note: '文本为英文，模型只学过英文。',
  wordsTitle: '每个词都往回看',
  words: (word) =>
    `每个词写在自己那一行的末端。沿着一行读：“${word}”看前面每个词和它自己各看多少。颜色越浓，看得越多。每行加起来是 1。`,
  found: (n) => `这里最后${count(n)}行找到了前面的词。`,
  nothing: '什么也没找到的行，主要看第一个词。',
  headsTitle: (layers, heads) => `${inWords(layers * heads)}个头`,
  heads: (layers, heads) => `模型有${count(layers)}层，每层${count(heads)}个头；每张小图是一个头，画法和大图一样。`,
  sum: '结果自下而上逐层相加，最后得出猜测。',
  spoken: (on, guess) => `头已${on ? '打开' : '关闭'}。现在猜 ${guess}。`,
  spokenCases: (word, on, off) => `${word}：开着 ${on}，关掉 ${off}。`,
};
