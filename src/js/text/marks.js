// Long runs of combining marks. The platform needs time by the square of their number to normalize them: here they are
// sorted beforehand.

/** Runs of so many marks are sorted here. */
export const MANY_MARKS = 64;

/** Whether the second mark is put before the first. */
const swaps = (/** @type {string} */ first, /** @type {string} */ second) =>
  `${first}${second}`.normalize('NFD') !== first + second;

/** Characters that keep their place have class 0. U+0334 has the lowest class of all marks, U+0345 the highest. */
const isMark = (/** @type {string} */ sign) => swaps(sign, '\u0334') || swaps('\u0345', sign);

/** A number for each character of a text, which grows with its canonical combining class. @param {string[]} signs */
function classesOf(signs) {
  const marks = [...new Set(signs)].filter(isMark).sort((a, b) => Number(swaps(a, b)) - Number(swaps(b, a)));
  /** @type {Map<string, number>} */
  const classes = new Map();
  let last = 1;
  for (const [i, mark] of marks.entries()) {
    if (i > 0 && swaps(mark, marks[i - 1])) last++;
    classes.set(mark, last);
  }
  return classes;
}

/**
 * A text whose characters are decomposed and whose marks are in canonical order.
 * @param {string} text
 * @param {'NFD' | 'NFKD'} form
 */
export function decomposed(text, form) {
  const signs = Array.from(text).flatMap((sign) => Array.from(sign.normalize(form)));
  const classes = classesOf(signs);
  const ofSign = (/** @type {string} */ sign) => classes.get(sign) ?? 0;
  let from = 0;
  for (let i = 0; i <= signs.length; i++) {
    if (i < signs.length && ofSign(signs[i]) > 0) continue;
    if (i - from > 1) {
      const run = signs.slice(from, i).sort((a, b) => ofSign(a) - ofSign(b));
      for (const [j, sign] of run.entries()) signs[from + j] = sign;
    }
    from = i + 1;
  }
  return signs.join('');
}
