// The methods of Python's texts, which are lists of code points, so a character outside the first 65,536 is one item,
// not two units.

import { type Budget, Fault } from './budget.ts';
import { define } from './define.ts';
import { formatBraces } from './format.ts';
import { characters, hasPairs, integer, isKind, list, text, tuple } from './values.ts';

/** The white space of Python. */
const SPACE = '[\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]';
const IS_SPACE = new RegExp(SPACE);
/** Longer texts are searched in linear time by findLong. */
const LONG = 32;

const isSpace = (unit: number) =>
  unit <= 32 ? unit >= 28 || (unit >= 9 && unit <= 13) : unit > 132 && IS_SPACE.test(String.fromCharCode(unit));

/** removed: characters; white space by default */
export function strip(value: string, removed: string | null | undefined, left = true, right = true) {
  const known = (removed ?? null) === null ? undefined : new Set(removed);
  if (known && hasPairs(removed as string)) {
    const chars = [...value];
    const [begin, end] = kept(chars.length, (at) => known.has(chars[at]), left, right);
    return chars.slice(begin, end).join('');
  }
  const removes = (at: number) => (known ? known.has(value[at]) : isSpace(value.charCodeAt(at)));
  return value.slice(...kept(value.length, removes, left, right));
}

function kept(
  length: number,
  removes: (at: number) => boolean,
  left: boolean,
  right: boolean,
): [begin: number, end: number] {
  let [begin, end] = [0, length];
  while (left && begin < end && removes(begin)) begin++;
  while (right && end > begin && removes(end - 1)) end--;
  return [begin, end];
}

/** Returns a function that finds the next occurrence of a text, in linear time. */
function finder(budget: Budget, part: string): (value: string, from: number) => number {
  budget.spend(part.length);
  if (part.length <= LONG) return (value, from) => value.indexOf(part, from);
  // Knuth, Morris and Pratt: for each length, the longest shorter beginning of `part` that is its end as well.
  budget.items(part.length);
  const back = new Int32Array(part.length + 1);
  const next = (length: number, unit: number) => {
    let known = length;
    while (known > 0 && part.charCodeAt(known) !== unit) known = back[known];
    return part.charCodeAt(known) === unit ? known + 1 : 0;
  };
  for (let i = 1; i < part.length; i++) back[i + 1] = next(back[i], part.charCodeAt(i));
  return (value, from) => {
    for (let i = from, length = 0; i < value.length; i++) {
      length = next(length, value.charCodeAt(i));
      if (length === part.length) return i + 1 - length;
    }
    return -1;
  };
}

/** Returns the index of the first occurrence, −1 if there is none. */
export const find = (budget: Budget, value: string, part: string) => finder(budget, part)(budget.text(value), 0);

/** Returns the parts of a text between occurrences of a separator. most: of separators. */
function cut(budget: Budget, value: string, separator: string, most = -1) {
  const next = finder(budget, separator);
  const parts: string[] = [];
  let done = 0;
  budget.text(value);
  for (let at = 0; parts.length !== most; done = at + separator.length) {
    at = next(value, done);
    if (at < 0) break;
    budget.items(4);
    parts.push(value.slice(done, at));
  }
  return [...parts, value.slice(done)];
}

export function replace(budget: Budget, value: string, from: string, to: string, count = -1) {
  const most = count < 0 ? -1 : count;
  const parts = from === '' ? between(characters(budget, value), most) : cut(budget, value, from, most);
  budget.spend(value.length + parts.length * to.length);
  return parts.join(to);
}

/** Splits between all characters, where an empty text is found. */
function between(chars: string[], most: number) {
  const all = ['', ...chars, ''];
  return most < 0 || most >= all.length ? all : [...all.slice(0, most), all.slice(most).join('')];
}

/** separator: default: white space */
function split(budget: Budget, value: string, separator?: string | null, most = -1) {
  if (separator === '') throw new Fault('the separator of split is empty');
  if (separator !== undefined && separator !== null) return cut(budget, value, text(separator), most);
  const trimmed = strip(budget.text(value), null, true, false);
  const spaces = new RegExp(`${SPACE}+`, 'g');
  const parts: string[] = [];
  let done = 0;
  for (let found = null; parts.length !== most; done = spaces.lastIndex) {
    found = spaces.exec(trimmed);
    if (!found) break;
    budget.items(4);
    parts.push(trimmed.slice(done, found.index));
  }
  return done < trimmed.length ? [...parts, trimmed.slice(done)] : parts;
}

function splitFromRight(budget: Budget, value: string, separator?: string | null, most = -1) {
  if (most < 0) return split(budget, value, separator);
  // The reversed text is split from the left.
  const mirror = (one: string) => characters(budget, one).reverse().join('');
  const sign = separator === undefined || separator === null ? null : mirror(text(separator));
  return split(budget, mirror(value), sign, most).reverse().map(mirror);
}

/** Changes the first letter to upper case and the others to lower case. */
export const capitalize = (value: string) => {
  const first = String.fromCodePoint(value.codePointAt(0) ?? 0);
  const [upper = '', ...others] = value === '' ? '' : first.toUpperCase();
  return upper + (others.join('') + value.slice(first.length)).toLowerCase();
};

/** Upper case begins after each character that is no letter. */
const title = (value: string) => value.replace(/\p{L}+/gu, capitalize);

/** share: of the left side */
function pad(budget: Budget, value: string, width: number, fill: string, share: number) {
  const missing = Math.max(0, integer(width) - characters(budget, value).length);
  budget.spend(missing);
  // As in Python, the odd space of a centred text is on the left if the width is odd.
  const left = share === 1 ? missing : share === 0 ? 0 : (missing >> 1) + (missing & integer(width) & 1);
  return fill.repeat(left) + value + fill.repeat(missing - left);
}

export const center = (budget: Budget, value: string, width = 80) => pad(budget, value, width, ' ', 0.5);

/** Returns a part of a text by indices of characters. */
function range(budget: Budget, value: string, begin = 0, end: number | null = null) {
  if (begin === 0 && end === null) return value;
  return characters(budget, value)
    .slice(begin, end ?? undefined)
    .join('');
}

/** Returns the number of characters before an index of a unit. */
const countUntil = (value: string, unit: number) => (hasPairs(value) ? [...value.slice(0, unit)].length : unit);

/** last: finds the last occurrence; needs: a text without the part is an error */
const finding =
  (last: boolean, needs: boolean) =>
  (budget: Budget, value: string, part: string, begin = 0, end?: number) => {
    const inside = range(budget, value, begin, end);
    budget.text(value);
    budget.text(text(part));
    const parts = part === '' ? [inside] : cut(budget, inside, part);
    const isFound = part === '' || parts.length > 1;
    if (!isFound && needs) throw new Fault('the text does not contain the part');
    if (!isFound) return -1;
    const unit = last ? inside.length - (parts.at(-1)?.length ?? 0) - part.length : parts[0].length;
    return countUntil(inside, part === '' ? (last ? inside.length : 0) : unit) + (begin < 0 ? 0 : begin);
  };

/** Returns the alternatives of startswith or endswith, a text or a tuple. */
const options = (given: unknown) => (isKind(given, 'tuple') ? (given as any[]) : [given]).map(text);

/** pattern: of the whole text */
const matching = (pattern: RegExp) => (budget: Budget, value: string) => pattern.test(budget.text(value));

const hasCase =
  (change: 'toUpperCase' | 'toLowerCase', other: 'toUpperCase' | 'toLowerCase') => (budget: Budget, value: string) => {
    budget.spend(3 * value.length);
    return value === value[change]() && value !== value[other]();
  };

const changed = (budget: Budget, value: string, change: (value: string) => string) => {
  budget.spend(2 * value.length);
  return change(value);
};

function partition(budget: Budget, value: string, part: string, last: boolean) {
  if (text(part) === '') throw new Fault('the separator of partition is empty');
  const parts = cut(budget, value, part);
  if (parts.length === 1) return last ? tuple(['', '', value]) : tuple([value, '', '']);
  const before = last ? value.length - (parts.at(-1)?.length ?? 0) - part.length : parts[0].length;
  return tuple([value.slice(0, before), part, value.slice(before + part.length)]);
}

/** keeps: true to keep the line breaks */
export function lines(budget: Budget, value: string, keeps: boolean) {
  budget.items(value.length);
  const all = value.match(/[^\n\r\v\f\x1c-\x1e\x85\u2028\u2029]*(?:\r\n|[^]|$)/g) ?? [];
  const kept = all.filter((line) => line !== '');
  return keeps ? kept : kept.map((line) => line.replace(/(?:\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029])$/, ''));
}

const swap = (c: string) => (c === c.toUpperCase() ? c.toLowerCase() : c.toUpperCase());

export const textMethods = (fieldOf: (budget: Budget, value: unknown, key: unknown) => unknown) =>
  define({
    'strip removed?': (budget, value, removed) => strip(budget.text(value), removed),
    'lstrip removed?': (budget, value, removed) => strip(budget.text(value), removed, true, false),
    'rstrip removed?': (budget, value, removed) => strip(budget.text(value), removed, false, true),
    'split sep? maxsplit?': split,
    'rsplit sep? maxsplit?': splitFromRight,
    'splitlines keepends?': lines,
    'startswith prefix start? end?': (budget, value, prefix, begin, end) =>
      options(prefix).some((one) => range(budget, budget.text(value), begin, end).startsWith(one)),
    'endswith suffix start? end?': (budget, value, suffix, begin, end) =>
      options(suffix).some((one) => range(budget, budget.text(value), begin, end).endsWith(one)),
    upper: (budget, value) => changed(budget, value, (one) => one.toUpperCase()),
    lower: (budget, value) => changed(budget, value, (one) => one.toLowerCase()),
    casefold: (budget, value) => changed(budget, value, (one) => one.toLowerCase().replaceAll('ß', 'ss')),
    swapcase: (budget, value) => characters(budget, value).map(swap).join(''),
    capitalize: (budget, value) => changed(budget, value, capitalize),
    title: (budget, value) => changed(budget, value, title),
    'replace old new count?': (budget, value, from, to, count) => replace(budget, value, text(from), text(to), count),
    'join items': (budget, value, items) => joined(budget, list(budget, items).map(text), value),
    'find part start? end?': finding(false, false),
    'rfind part start? end?': finding(true, false),
    'index part start? end?': finding(false, true),
    'rindex part start? end?': finding(true, true),
    'count part start? end?': (budget, value, part, begin, end) => {
      const inside = range(budget, value, begin, end);
      return part === '' ? characters(budget, inside).length + 1 : cut(budget, inside, text(part)).length - 1;
    },
    isdigit: matching(/^[\p{Nd}²³¹⁰-⁹₀-₉]+$/u),
    isdecimal: matching(/^\p{Nd}+$/u),
    isnumeric: matching(/^\p{N}+$/u),
    isalpha: matching(/^\p{L}+$/u),
    isalnum: matching(/^[\p{L}\p{N}]+$/u),
    isspace: matching(new RegExp(`^${SPACE}+$`)),
    isascii: matching(/^[^\u0080-\uffff]*$/),
    isidentifier: matching(/^[\p{L}_][\p{L}\p{N}_]*$/u),
    isupper: hasCase('toUpperCase', 'toLowerCase'),
    islower: hasCase('toLowerCase', 'toUpperCase'),
    istitle: (budget, value) => changed(budget, value, title) === value && /\p{L}/u.test(value),
    'removeprefix prefix': (budget, value, prefix) =>
      value.startsWith(text(prefix)) ? budget.text(value).slice(prefix.length) : value,
    'removesuffix suffix': (budget, value, suffix) =>
      suffix && value.endsWith(text(suffix)) ? budget.text(value).slice(0, -suffix.length) : value,
    'zfill width': (budget, value, width) => {
      const sign = /^[-+]?/.exec(value)?.[0] ?? '';
      return sign + pad(budget, value.slice(sign.length), width - sign.length, '0', 1);
    },
    'ljust width fill?': (budget, value, width, fill = ' ') => pad(budget, value, width, text(fill), 0),
    'rjust width fill?': (budget, value, width, fill = ' ') => pad(budget, value, width, text(fill), 1),
    'center width fill?': (budget, value, width, fill = ' ') => pad(budget, value, width, text(fill), 0.5),
    'partition part': (budget, value, part) => partition(budget, value, part, false),
    'rpartition part': (budget, value, part) => partition(budget, value, part, true),
    'format *': (budget, value, args, named) => formatBraces(budget, value, args, named, fieldOf),
  });

export function joined(budget: Budget, texts: string[], separator: string) {
  for (const one of texts) budget.spend(one.length + separator.length);
  return texts.join(separator);
}
