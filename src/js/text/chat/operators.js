// The operators of a template, and the fields, items and parts of values, as in Python.

import { Fault } from './budget.js';
import { defined, formatPercent } from './format.js';
import { define } from './define.js';
import { find, textMethods } from './texts.js';
import {
  Callable,
  characters,
  Dict,
  Fields,
  float,
  hasPairs,
  integer,
  isEqual,
  isFloat,
  isKind,
  isSequence,
  list,
  mark,
  nameOf,
  numeric,
  order,
  pairsOf,
  text,
  tuple,
  Undefined,
} from './values.js';
import { write } from './write.js';

/** @import { Budget } from './budget.js' */
/** @import { Items } from './values.js' */

/** @param {Budget} budget @param {unknown} all @param {unknown} value */
export function contains(budget, all, value) {
  if (typeof all === 'string') return find(budget, all, text(value)) >= 0;
  if (all instanceof Dict) return all.has(value);
  return list(budget, all).some((item) => isEqual(budget, item, value));
}

/** @param {Budget} budget @param {string} sign @param {any} left @param {any} right @returns {boolean} */
export function compare(budget, sign, left, right) {
  if (sign === '==') return isEqual(budget, left, right);
  if (sign === '!=') return !isEqual(budget, left, right);
  if (sign === 'in') return contains(budget, right, left);
  if (sign === 'not in') return !contains(budget, right, left);
  const difference = order(budget, defined(left), defined(right));
  if (sign === '<') return difference < 0;
  if (sign === '<=') return difference <= 0;
  return sign === '>' ? difference > 0 : difference >= 0;
}

/**
 * Adds a text at the end of another. The engine copies neither.
 * @param {Budget} budget
 * @param {string} left
 * @param {string} right
 */
function concatenated(budget, left, right) {
  budget.spend(Math.min(left.length, right.length));
  return left + right;
}

/** @param {Budget} budget @param {unknown[]} values of the operator ~ */
export const joinTexts = (budget, values) =>
  values.reduce(
    (/** @type {string} */ all, value) =>
      concatenated(budget, all, typeof value === 'string' ? value : write(budget, value)),
    '',
  );

/** @param {Budget} budget @param {any} value text or list @param {number} count */
function repeated(budget, value, count) {
  const times = Math.max(count, 0);
  if (typeof value === 'string') {
    budget.spend(value.length * times);
    return value.repeat(times);
  }
  budget.items((value.length + 1) * times);
  const items = Array.from({ length: value.length * times }, (_, i) => value[i % value.length]);
  return isKind(value, 'tuple') ? tuple(items) : items;
}

/** @param {Budget} budget @param {string} sign @param {any} left @param {any} right @returns {any} */
export function calculate(budget, sign, left, right) {
  if (sign === '%' && typeof left === 'string') return formatPercent(budget, left, right);
  const [a, b] = [numeric(left), numeric(right)];
  if (a !== undefined && b !== undefined) {
    const result = arithmetic(sign, a, b);
    const isReal = isFloat(left) || isFloat(right) || sign === '/' || (sign === '**' && b < 0);
    if (isReal) return float(result);
    if (!Number.isSafeInteger(result)) throw new Fault('an integer beyond 2^53');
    return result;
  }
  if (sign === '+' && typeof left === 'string' && typeof right === 'string') return concatenated(budget, left, right);
  const isList = (/** @type {unknown} */ one) => isSequence(one) && !isKind(one, 'range');
  if (sign === '+' && isList(left) && isKind(right, left.kind)) {
    const items = [...budget.list(left), ...budget.list(right)];
    return isKind(left, 'tuple') ? tuple(items) : items;
  }
  if (sign === '*' && (typeof left === 'string' || isList(left))) return repeated(budget, left, integer(right));
  if (sign === '*' && (typeof right === 'string' || isList(right))) return repeated(budget, right, integer(left));
  throw new Fault(`${sign} does not take ${nameOf(defined(left))} and ${nameOf(defined(right))}`);
}

/** @param {string} sign @param {number} a @param {number} b */
function arithmetic(sign, a, b) {
  if (['/', '//', '%'].includes(sign) && b === 0) throw new Fault('a division by zero');
  if (sign === '+') return a + b;
  if (sign === '-') return a - b;
  if (sign === '*') return a * b;
  if (sign === '/') return a / b;
  if (sign === '//') return Math.floor(a / b);
  if (sign === '%') {
    const rest = a % b;
    return rest !== 0 && rest < 0 !== b < 0 ? rest + b : rest;
  }
  if (a === 0 && b < 0) throw new Fault('a division by zero');
  const power = a ** b;
  if (Number.isNaN(power) && !Number.isNaN(a) && !Number.isNaN(b)) throw new Fault('a root of a negative number');
  return power;
}

/**
 * Returns a part of a text or list, by the rules of Python for indices.
 * @param {Budget} budget @param {any} value @param {(number | null | undefined)[]} parts begin, end, step
 */
export function slice(budget, value, parts) {
  if (typeof value !== 'string' && !isSequence(value)) throw new Fault(`${nameOf(value)} has no parts`);
  const given = parts.map((part) => (part === undefined || part === null ? undefined : integer(part)));
  const [begin, end, step = 1] = given;
  if (step === 0) throw new Fault('the step is 0');
  if (typeof value === 'string' && step === 1 && !hasPairs(budget.text(value))) return value.slice(begin ?? 0, end);
  const all = typeof value === 'string' ? characters(budget, value) : budget.list(value);
  const items = pick(all, begin, end, step);
  if (typeof value === 'string') return items.join('');
  if (isKind(value, 'range')) return rangeOf(value, items, step);
  return isKind(value, 'tuple') ? tuple(items) : items;
}

/** @param {any[]} all @param {number | undefined} begin @param {number | undefined} end @param {number} step */
function pick(all, begin, end, step) {
  if (step === 1) return all.slice(begin ?? 0, end);
  const { length } = all;
  const [least, most] = step > 0 ? [0, length] : [-1, length - 1];
  const limit = (/** @type {number} */ at) => Math.min(Math.max(at < 0 ? at + length : at, least), most);
  const first = begin === undefined ? (step > 0 ? least : most) : limit(begin);
  const last = end === undefined ? (step > 0 ? most : least) : limit(end);
  const items = [];
  for (let i = first; step > 0 ? i < last : i > last; i += step) items.push(all[i]);
  return items;
}

/** @param {Items} value @param {number[]} items of its part @param {number} step */
function rangeOf({ limits: [first, , width = 1] = [0, 0] }, items, step) {
  return range(items, [items[0] ?? first, (items.at(-1) ?? first) + width * step, width * step]);
}

/** @param {number[]} items @param {number[]} limits */
function range(items, limits) {
  return mark(items, 'range', { limits: limits[2] === 1 ? limits.slice(0, 2) : limits });
}

/** Maximum of numbers in a range, as in the sandbox of Jinja. */
const MAX_RANGE = 100_000;

/** Returns the numbers of a range. @param {Budget} budget @param {unknown[]} args */
export function makeRange(budget, args) {
  const given = args.map(integer);
  const [begin, end, step] = given.length < 2 ? [0, given[0] ?? 0, 1] : [given[0], given[1], given[2] ?? 1];
  const count = Math.max(Math.ceil((end - begin) / step), 0);
  if (!(count <= MAX_RANGE)) throw new Fault(`range has more than ${MAX_RANGE} numbers`);
  budget.items(count + 1);
  return range(
    Array.from({ length: count }, (_, i) => begin + i * step),
    [begin, end, step],
  );
}

/** @param {string} name @param {any[]} items */
const view = (name, items) => mark(items, 'view', { name });

const DICTIONARY_METHODS = define({
  items: (budget, value) => view('dict_items', pairsOf(budget, value)),
  keys: (budget, value) => view('dict_keys', budget.list(value.keys())),
  values: (budget, value) => view('dict_values', budget.list(value.values())),
  'get key default?': (_, value, key, standard = null) => (value.has(key) ? value.get(key) : standard),
  copy: (budget, value) => new Dict(budget.list(value.entries())),
});
/** Only the methods that do not change a list, because a template must not change the messages. */
const LIST_METHODS = define({
  'index item start?': (budget, value, item, begin = 0) => {
    const found = value.findIndex(
      (/** @type {unknown} */ one, /** @type {number} */ i) => i >= begin && isEqual(budget, one, item),
    );
    if (found < 0) throw new Fault('the list does not contain the item');
    return found;
  },
  'count item': (budget, value, item) =>
    value.filter((/** @type {unknown} */ one) => isEqual(budget, one, item)).length,
  copy: (budget, value) => [...budget.list(value)],
});
const TEXT_METHODS = textMethods(fieldOf);

/** Returns the method of a value, or undefined if there is none. @param {any} value @param {string} name */
function methodOf(value, name) {
  const [methods, type] =
    typeof value === 'string'
      ? [TEXT_METHODS, 'str']
      : value instanceof Dict
        ? [DICTIONARY_METHODS, 'dict']
        : isSequence(value)
          ? [LIST_METHODS, 'list']
          : [undefined, ''];
  const method = methods?.get(name);
  return (
    method &&
    new Callable(`built-in method ${name} of ${type} object`, (budget, args, named) =>
      method(budget, value, args, named),
    )
  );
}

/**
 * Returns a field of a value. As in Jinja, a name after a dot is looked up as a method before it is looked up as a key,
 * and a name in brackets in the other order.
 * @param {Budget} budget @param {any} value @param {any} key @param {boolean} [dotted]
 */
export function fieldOf(budget, value, key, dotted = false) {
  defined(value);
  if (typeof key === 'string') budget.text(key);
  const method = () => (typeof key === 'string' ? methodOf(value, key) : undefined);
  if (dotted && method()) return method();
  if (value instanceof Dict && value.has(key)) return value.get(key);
  const named = isKind(value, 'tuple') && value.names ? value.names.indexOf(key) : -1;
  const found = value instanceof Fields ? value.get(key) : named < 0 ? itemAt(budget, value, key) : value[named];
  return found ?? method() ?? new Undefined(typeof key === 'string' ? key : `item ${write(budget, key)}`);
}

/** @param {Budget} budget @param {any} value @param {unknown} key */
function itemAt(budget, value, key) {
  if (typeof key !== 'boolean' && !Number.isInteger(key)) return undefined;
  if (typeof value === 'string' && hasPairs(budget.text(value))) return characters(budget, value).at(Number(key));
  return typeof value === 'string' || isSequence(value) ? value.at(Number(key)) : undefined;
}
