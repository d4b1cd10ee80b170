// Width of a text in the page's serif letters.

const SERIF = '"Iowan Old Style", Palatino, "Source Serif", Charter, "Noto Serif", Georgia, "Songti SC", serif';

/** Bold letters are at most this many times as wide. */
export const BOLD_WIDTH = 1.15;

/** @type {CanvasRenderingContext2D | null} */
let context = null;

/** @param {string} text @param {number} fontSize in CSS pixels */
export function textWidth(text, fontSize) {
  context ??= /** @type {CanvasRenderingContext2D} */ (document.createElement('canvas').getContext('2d'));
  context.font = `${fontSize}px ${SERIF}`;
  return context.measureText(text).width;
}

/** Width of the widest of several texts. @param {string[]} texts @param {number} fontSize */
export const maxTextWidth = (texts, fontSize) =>
  texts.reduce((most, text) => Math.max(most, textWidth(text, fontSize)), 0);
