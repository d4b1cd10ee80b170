// The functions that a chat template can use: filters, tests, and methods of texts, lists and dictionaries.

import { Fault, isDictionary, isEqual, isTrue, itemsOf, Namespace, toJson, Undefined, write } from './values.js';

/** @typedef {(value: any, args: any[], named: Record<string, any>) => unknown} Builtin */

/** @param {unknown} value @returns {string} */
function text(value) {
  if (typeof value === 'string') return value;
  throw new Fault(`a text is expected, not ${nameOf(value)}`);
}

/** @param {unknown} value @returns {any[]} */
export function list(value) {
  const items = itemsOf(value);
  if (items) return items;
  throw new Fault(`a list is expected, not ${nameOf(value)}`);
}

/** @param {unknown} value */
function dictionary(value) {
  if (isDictionary(value)) return value;
  throw new Fault(`a dictionary is expected, not ${nameOf(value)}`);
}

/** @param {unknown} value */
export function nameOf(value) {
  if (value instanceof Undefined) return `${value.name}, which is undefined`;
  return value === null ? 'none' : Array.isArray(value) ? 'a list' : `a ${typeof value}`;
}

/**
 * Returns a function that is true for the characters that strip() removes, which are white space by default.
 * @param {string | null | undefined} characters
 */
const stripped = (characters) => {
  const known = characters === undefined || characters === null ? null : new Set(characters);
  return (/** @type {string} */ c) => (known ? known.has(c) : /\s/.test(c));
};

/** @param {string} value @param {string | null | undefined} characters @param {boolean} left @param {boolean} right */
function strip(value, characters, left, right) {
  const removes = stripped(characters);
  let [begin, end] = [0, value.length];
  while (left && begin < end && removes(value[begin])) begin++;
  while (right && end > begin && removes(value[end - 1])) end--;
  return value.slice(begin, end);
}

const capitalize = (/** @type {string} */ value) => value.slice(0, 1).toUpperCase() + value.slice(1).toLowerCase();
const title = (/** @type {string} */ value) => value.replace(/\p{L}+/gu, capitalize);

/**
 * Splits a text as in Python. Without a separator, it is split at white space.
 * @param {string} value @param {string | null | undefined} separator @param {number} most
 */
function split(value, separator, most = -1) {
  if (separator === '') throw new Fault('the separator of split is empty');
  const isSpace = separator === undefined || separator === null;
  const parts = isSpace ? value.trim().split(/\s+/).filter(Boolean) : value.split(separator);
  if (most < 0 || parts.length <= most + 1) return parts;
  if (!isSpace) return [...parts.slice(0, most), parts.slice(most).join(separator)];
  const rest = new RegExp(`^(?:\\S+\\s+){${most}}`).exec(value.trimStart())?.[0].length ?? 0;
  return [...parts.slice(0, most), value.trimStart().slice(rest)];
}

/** @param {string} value @param {string} separator @param {number} most */
function splitFromRight(value, separator, most = -1) {
  const parts = split(value, separator);
  if (most < 0 || parts.length <= most + 1) return parts;
  return [parts.slice(0, parts.length - most).join(separator), ...parts.slice(parts.length - most)];
}

/**
 * Returns the alternatives of an argument of startswith or endswith, which is a text or a list of texts.
 * @param {unknown} given
 */
const options = (given) => (Array.isArray(given) ? given : [given]).map(text);

/** The methods of texts. @type {Record<string, Builtin>} */
const TEXT_METHODS = {
  strip: (value, [characters]) => strip(value, characters, true, true),
  lstrip: (value, [characters]) => strip(value, characters, true, false),
  rstrip: (value, [characters]) => strip(value, characters, false, true),
  split: (value, [separator, most], named) => split(value, separator ?? named.sep, most ?? named.maxsplit),
  rsplit: (value, [separator, most], named) => splitFromRight(value, separator ?? named.sep, most ?? named.maxsplit),
  splitlines: (value) => value.replace(/\n$/, '').split('\n'),
  startswith: (value, [start]) => options(start).some((one) => value.startsWith(one)),
  endswith: (value, [end]) => options(end).some((one) => value.endsWith(one)),
  upper: (value) => value.toUpperCase(),
  lower: (value) => value.toLowerCase(),
  capitalize: (value) => capitalize(value),
  title: (value) => title(value),
  replace: (value, [from, to, count]) => replace(value, text(from), text(to), count),
  join: (value, [items]) => list(items).map(text).join(value),
  find: (value, [part]) => value.indexOf(text(part)),
  count: (value, [part]) => value.split(text(part)).length - 1,
  isdigit: (value) => /^\d+$/.test(value),
  isspace: (value) => /^\s+$/.test(value),
  removeprefix: (value, [start]) => (value.startsWith(start) ? value.slice(start.length) : value),
  removesuffix: (value, [end]) => (end && value.endsWith(end) ? value.slice(0, -end.length) : value),
};

/** @param {string} value @param {string} from @param {string} to @param {number} [count] */
function replace(value, from, to, count = -1) {
  if (count < 0) return value.replaceAll(from, () => to);
  let replaced = value;
  for (let i = 0, at = 0; i < count; i++) {
    const next = replaced.indexOf(from, at);
    if (next < 0) break;
    replaced = replaced.slice(0, next) + to + replaced.slice(next + from.length);
    at = next + to.length;
  }
  return replaced;
}

/**
 * The methods of lists, except those that change the list, because a template must not change the messages.
 * @type {Record<string, Builtin>}
 */
const LIST_METHODS = {
  index: (value, [item]) => value.findIndex((/** @type {unknown} */ one) => isEqual(one, item)),
  count: (value, [item]) => value.filter((/** @type {unknown} */ one) => isEqual(one, item)).length,
};
/** @type {Record<string, Builtin>} */
const DICTIONARY_METHODS = {
  items: (value) => Object.entries(value),
  keys: (value) => Object.keys(value),
  values: (value) => Object.values(value),
  get: (value, [key, standard = null]) => (Object.hasOwn(value, key) ? value[key] : standard),
};

/** Returns the method of a value, or undefined if there is none. @param {unknown} value @param {string} name */
export function methodOf(value, name) {
  const methods =
    typeof value === 'string'
      ? TEXT_METHODS
      : Array.isArray(value)
        ? LIST_METHODS
        : isDictionary(value)
          ? DICTIONARY_METHODS
          : {};
  return Object.hasOwn(methods, name) ? methods[name] : undefined;
}

/** Returns the field of an item. The path may contain dots. @param {any} item @param {unknown} path */
const fieldOf = (item, path) =>
  String(path)
    .split('.')
    .reduce((value, key) => (isDictionary(value) && Object.hasOwn(value, key) ? value[key] : new Undefined(key)), item);

/**
 * Returns a filter that selects items by the name of a test. Without a name, items that are true are selected.
 * @param {boolean} keeps true to keep the items that pass the test, false to keep the others
 * @param {boolean} ofField true to test a field of each item
 * @returns {Builtin}
 */
const selecting = (keeps, ofField) => (value, args) => {
  const [field, name, ...rest] = ofField ? args : [undefined, ...args];
  const test = name === undefined ? isTrue : testNamed(name);
  return list(value).filter((item) => Boolean(test(ofField ? fieldOf(item, field) : item, rest, {})) === keeps);
};

/** @param {any} a @param {any} b */
const order = (a, b) => (a < b ? -1 : a > b ? 1 : 0);

/** @type {Record<string, Builtin>} */
const FILTERS = {
  trim: (value, [characters]) => strip(write(value), characters, true, true),
  tojson: (value, [indent], named) => toJson(value, indent ?? named.indent ?? undefined),
  length: (value) => list(value).length,
  count: (value) => list(value).length,
  upper: (value) => write(value).toUpperCase(),
  lower: (value) => write(value).toLowerCase(),
  capitalize: (value) => capitalize(write(value)),
  title: (value) => title(write(value)),
  replace: (value, [from, to, count]) => replace(write(value), text(from), text(to), count),
  join: (value, [separator = '', attribute], named) => {
    const field = attribute ?? named.attribute;
    return list(value)
      .map((item) => write(field === undefined ? item : fieldOf(item, field)))
      .join(separator);
  },
  first: (value) => list(value)[0] ?? new Undefined('the first item'),
  last: (value) => list(value).at(-1) ?? new Undefined('the last item'),
  list: (value) => [...list(value)],
  items: (value) => (value instanceof Undefined ? [] : Object.entries(dictionary(value))),
  dictsort: (value) => Object.entries(dictionary(value)).sort(([a], [b]) => order(a.toLowerCase(), b.toLowerCase())),
  default: (value, [standard = '', orFalse], named) =>
    value instanceof Undefined || ((orFalse ?? named.boolean) && !isTrue(value)) ? standard : value,
  map: (value, [name, ...rest], named) => {
    const by = named.attribute;
    if (by === undefined) return list(value).map((item) => filterNamed(name)(item, rest, {}));
    return list(value).map((item) => {
      const found = fieldOf(item, by);
      return found instanceof Undefined && named.default !== undefined ? named.default : found;
    });
  },
  select: selecting(true, false),
  reject: selecting(false, false),
  selectattr: selecting(true, true),
  rejectattr: selecting(false, true),
  unique: (value) => list(value).filter((item, i, all) => all.findIndex((other) => isEqual(other, item)) === i),
  sort: (value, _, named) => {
    const key = (/** @type {any} */ item) => (named.attribute === undefined ? item : fieldOf(item, named.attribute));
    const sorted = [...list(value)].sort((a, b) => order(key(a), key(b)));
    return named.reverse ? sorted.reverse() : sorted;
  },
  reverse: (value) => (typeof value === 'string' ? [...value].reverse().join('') : [...list(value)].reverse()),
  string: (value) => write(value),
  int: (value, [standard = 0]) => {
    const number = Math.trunc(Number(value));
    return Number.isFinite(number) ? number : standard;
  },
  float: (value, [standard = 0]) => (Number.isFinite(Number(value)) ? Number(value) : standard),
  abs: (value) => Math.abs(value),
  sum: (value) => list(value).reduce((a, b) => a + b, 0),
  min: (value) => [...list(value)].sort(order)[0],
  max: (value) => [...list(value)].sort(order).at(-1),
  safe: (value) => value,
  indent: (value, [width = 4, first = false], named) =>
    indent(write(value), named.width ?? width, named.first ?? first),
};
FILTERS.d = FILTERS.default;

/**
 * Indents the lines of a text, except empty lines.
 * @param {string} value
 * @param {number | string} width
 * @param {boolean} first true to indent the first line too
 */
function indent(value, width, first) {
  const margin = typeof width === 'number' ? ' '.repeat(width) : width;
  return value
    .split('\n')
    .map((line, i) => (line && (i > 0 || first) ? margin + line : line))
    .join('\n');
}

/** @type {Record<string, Builtin>} */
const TESTS = {
  defined: (value) => !(value instanceof Undefined),
  undefined: (value) => value instanceof Undefined,
  none: (value) => value === null,
  string: (value) => typeof value === 'string',
  mapping: isDictionary,
  sequence: (value) => Array.isArray(value) || typeof value === 'string' || isDictionary(value),
  iterable: (value) => itemsOf(value) !== undefined,
  number: (value) => typeof value === 'number' || typeof value === 'boolean',
  integer: (value) => Number.isInteger(value),
  float: (value) => typeof value === 'number' && !Number.isInteger(value),
  boolean: (value) => typeof value === 'boolean',
  true: (value) => value === true,
  false: (value) => value === false,
  callable: (value) => typeof value === 'function',
  odd: (value) => value % 2 === 1,
  even: (value) => value % 2 === 0,
  divisibleby: (value, [by]) => value % by === 0,
  equalto: (value, [other]) => isEqual(value, other),
  ne: (value, [other]) => !isEqual(value, other),
  sameas: (value, [other]) => value === other,
  in: (value, [all]) => contains(all, value),
  lt: (value, [other]) => value < other,
  gt: (value, [other]) => value > other,
  le: (value, [other]) => value <= other,
  ge: (value, [other]) => value >= other,
  lower: (value) => value === value.toLowerCase(),
  upper: (value) => value === value.toUpperCase(),
};
Object.assign(TESTS, { eq: TESTS.equalto, '==': TESTS.equalto, '!=': TESTS.ne });

/** @param {unknown} all @param {unknown} value */
export function contains(all, value) {
  if (typeof all === 'string') return all.includes(text(value));
  if (isDictionary(all)) return typeof value === 'string' && Object.hasOwn(all, value);
  return list(all).some((item) => isEqual(item, value));
}

/** @param {Record<string, Builtin>} known @param {string} kind */
const named = (known, kind) => (/** @type {string} */ name) => {
  if (Object.hasOwn(known, name)) return known[name];
  throw new Fault(`the ${kind} ${JSON.stringify(name)} is not supported`);
};
export const filterNamed = named(FILTERS, 'filter');
export const testNamed = named(TESTS, 'test');

/** Returns the numbers of a range. @param {number[]} args */
function range(args) {
  const [begin, end, step] = args.length < 2 ? [0, args[0] ?? 0, 1] : [args[0], args[1], args[2] ?? 1];
  const count = Math.max(Math.ceil((end - begin) / step), 0);
  if (!(count <= MAX_RANGE)) throw new Fault(`range has more than ${MAX_RANGE} numbers`);
  return Array.from({ length: count }, (_, i) => begin + i * step);
}
const MAX_RANGE = 100_000;

/**
 * Returns the parts of a date that templates use, by their codes in strftime.
 * @param {Date} date
 * @returns {Record<string, string>}
 */
const dateParts = (date) => {
  const two = (/** @type {number} */ n) => String(n).padStart(2, '0');
  const word = (/** @type {Intl.DateTimeFormatOptions} */ options) => date.toLocaleDateString('en-US', options);
  return {
    '%Y': String(date.getFullYear()),
    '%m': two(date.getMonth() + 1),
    '%d': two(date.getDate()),
    '%H': two(date.getHours()),
    '%M': two(date.getMinutes()),
    '%S': two(date.getSeconds()),
    '%B': word({ month: 'long' }),
    '%b': word({ month: 'short' }),
    '%A': word({ weekday: 'long' }),
    '%a': word({ weekday: 'short' }),
    '%-d': String(date.getDate()),
    '%%': '%',
  };
};

/**
 * Returns the functions that a template may call.
 * @param {Date} now
 * @param {(reason: string) => never} refuse called with the reason if the template rejects the messages
 * @returns {Record<string, (args: any[], named: Record<string, any>) => unknown>}
 */
export const functions = (now, refuse) => ({
  raise_exception: ([reason]) => refuse(write(reason)),
  range: (args) => range(args),
  namespace: (_, fields) => new Namespace(fields),
  dict: (_, fields) => ({ ...fields }),
  strftime_now: ([format]) =>
    text(format).replace(/%-?[A-Za-z%]/g, (part) => {
      const known = dateParts(now)[part];
      if (known === undefined) throw new Fault(`${part} of strftime_now is not supported`);
      return known;
    }),
});
