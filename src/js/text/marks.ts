// Normalizes texts with long runs of combining marks, which String.normalize would sort in quadratic time: they are
// sorted here first.

/** Length from which runs of marks are sorted here. */
export const MANY_MARKS = 64;

/** Returns true if normalization puts the second mark before the first. */
const swaps = (first: string, second: string) => `${first}${second}`.normalize('NFD') !== first + second;

/** False for canonical combining class 0. U+0334 has the lowest class of all marks, U+0345 the highest. */
const isMark = (char: string) => swaps(char, '\u0334') || swaps('\u0345', char);

/** Returns the rank of each mark of a text by canonical combining class, counted from 1. */
function classesOf(chars: string[]) {
  const marks = [...new Set(chars)].filter(isMark).sort((a, b) => Number(swaps(a, b)) - Number(swaps(b, a)));
  const classes: Map<string, number> = new Map();
  let last = 1;
  for (const [i, mark] of marks.entries()) {
    if (i > 0 && swaps(mark, marks[i - 1])) last++;
    classes.set(mark, last);
  }
  return classes;
}

/** Returns the text in NFD or NFKD. */
export function decomposed(text: string, form: 'NFD' | 'NFKD') {
  const chars = Array.from(text).flatMap((char) => Array.from(char.normalize(form)));
  const classes = classesOf(chars);
  const classOf = (char: string) => classes.get(char) ?? 0;
  let from = 0;
  for (let i = 0; i <= chars.length; i++) {
    if (i < chars.length && classOf(chars[i]) > 0) continue;
    if (i - from > 1) {
      const run = chars.slice(from, i).sort((a, b) => classOf(a) - classOf(b));
      for (const [j, char] of run.entries()) chars[from + j] = char;
    }
    from = i + 1;
  }
  return chars.join('');
}
