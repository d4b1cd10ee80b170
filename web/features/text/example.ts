// The passage that the view Text offers if the text is short.

/** A passage that repeats its beginning, so that heads that copy have something to find. */
export const EXAMPLE =
  'Call me Ishmael. Some years ago, never mind how long precisely, having little or no money in my purse, and ' +
  'nothing particular to interest me on shore, I thought I would sail about a little and see the watery part of ' +
  'the world. It is a way I have of driving off the spleen. Call me Ishmael. Some years ago I thought I would sail';

/** A text with fewer tokens than this is short. */
const SHORT = 40;
/** The number of tokens that a model must be able to read, which is more than the passage has. */
const ROOM = 120;

/** Returns true if the passage is offered. T: tokens of the text; context, words: of the model. */
export const offersExample = ({ T, context, words }: { T: number; context: number; words: boolean }) =>
  words && T < SHORT && context >= ROOM;
