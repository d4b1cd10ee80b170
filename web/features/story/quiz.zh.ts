// The three questions before and after the story, in Chinese. *x* is a quotation, **x** is emphasized.

import type { quiz as en } from './quiz.en.ts';

export const quiz: typeof en = {
  before: {
    title: '先问三个问题',
    text: ['请在页面上动手回答，不用帮助。故事结束时会再问同样的问题。'],
    done: '故事现在开始。结束时，这次的回答会和新的回答放在一起。',
  },
  after: {
    short: '三个问题',
    title: '同样的三个问题',
    text: ['请再在页面上动手回答一次。'],
    done: '故事之前和之后的回答：',
  },
  number: (i, all) => `第 ${i} 题，共 ${all} 题`,
  questions: {
    most: {
      ask: '在图中，按第二个 *the* 看得最多的地方。',
      right: '看得最多的地方',
      wrong: '另一个地方',
    },
    previous: {
      ask: '选一个头：几乎每个词元都看紧挨在前面的词元。',
      right: '是这样的头',
      wrong: '另一个头',
    },
    guess: {
      ask: '不改文本，让模型不再猜 *mate*，而猜另一个词。',
      right: '猜测变了',
      wrong: '猜测没有变',
    },
  },
  current: (what) => `目前的回答：${what}`,
  confirm: '这就是我的回答',
  skip: '我不知道',
  again: '重新回答',
  stays: '回答只留在这个浏览器里，不会发送。',
  question: '问题',
  when: { before: '之前', after: '之后' },
  none: '没有回答',
  marks: { right: '✓', wrong: '✗', none: '–' },
  right: (n, all) => `${all} 题对 ${n} 题`,
  predictions: (n, all) => `故事中的预测：${all} 个对 ${n} 个`,
  tried: (tries) => `试过：${tries}`,
  colon: '：',
  result: 'Headlight：故事前后的三个问题',
  copy: '复制结果',
  copied: '已复制',
  notCopied: '请选中文字并复制：',
};
