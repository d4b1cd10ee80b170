// The three questions before and after the story, in English. *x* is a quotation, **x** is emphasized.

export const quiz = {
  before: {
    title: 'Three questions first',
    text: ['Answer by doing it on this page, without help. The same questions come again at the end.'],
    done: 'The story begins now. At the end you will see these answers next to new ones.',
  },
  after: {
    short: 'three questions',
    title: 'The same three questions',
    text: ['Answer once more by doing it on this page.'],
    done: 'Your answers before the story and after it:',
  },
  number: (i: number, all: number) => `Question ${i} of ${all}`,
  questions: {
    most: {
      ask: 'In the picture, press the place that the second *the* looks at most.',
      right: 'what it looks at most',
      wrong: 'another place',
    },
    previous: {
      ask: 'Choose a head in which nearly every token looks at the token just before it.',
      right: 'a head that does this',
      wrong: 'another head',
    },
    guess: {
      ask: 'Make the model guess another word than *mate*, without changing the text.',
      right: 'the guess changed',
      wrong: 'the guess did not change',
    },
  },
  current: (what: string) => `Your answer so far: ${what}`,
  confirm: 'This is my answer',
  skip: 'I do not know',
  again: 'Answer again',
  stays: 'The answers stay in this browser. Nothing is sent.',
  question: 'Question',
  when: { before: 'before', after: 'after' },
  none: 'no answer',
  marks: { right: '✓', wrong: '✗', none: '–' },
  right: (n: number, all: number) => `${n} of ${all} right`,
  predictions: (n: number, all: number) => `Predictions in the story: ${n} of ${all} right`,
  tried: (tries: string) => `tried: ${tries}`,
  colon: ': ',
  result: 'Headlight: three questions before and after the story',
  copy: 'Copy the result',
  copied: 'Copied',
  notCopied: 'Select the text and copy it:',
};
