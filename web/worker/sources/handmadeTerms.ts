// The page's texts about handmade heads.

/** Names and descriptions of the roles that only handmade heads have, by language. */
export const TERMS = {
  en: {
    next: ['next', 'looks at the token just after.'],
    pronoun: ['who is meant', 'a pronoun looks at words before it that it may stand for, the nearest most.'],
    near: ['near', 'looks at what is near, the nearer the more.'],
    even: ['evenly', 'looks at everything alike: its scores are all 0.'],
    colour: ['colour', 'looks at patches of a like colour.'],
    row: ['row', 'looks along its row.'],
    column: ['column', 'looks along its column.'],
    mirror: ['mirror', 'looks at the patch on the other side.'],
    bright: ['bright', 'looks at what is bright, wherever it asks.'],
  },
  zh: {
    next: ['后一个', '看后一个词元。'],
    pronoun: ['指的是谁', '代词看它前面可能指的词，越近越多。'],
    near: ['附近', '看附近，越近越多。'],
    even: ['平均', '看一切都一样：分数全是 0。'],
    colour: ['同色', '看颜色相近的小块。'],
    row: ['同行', '沿着自己的行看。'],
    column: ['同列', '沿着自己的列看。'],
    mirror: ['对称', '看另一边的小块。'],
    bright: ['明亮', '不管谁在问，都看明亮处。'],
  },
};
