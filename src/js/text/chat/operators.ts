// A template's operators, and the fields, items and parts of values, as in Python.

import { type Budget, Fault } from './budget.ts';
import { define } from './define.ts';
import { defined, formatPercent } from './format.ts';
import { find, textMethods } from './texts.ts';
import {
  Callable,
  characters,
  Dict,
  Fields,
  float,
  hasPairs,
  type Items,
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
} from './values.ts';
import { write } from './write.ts';

export function contains(budget: Budget, all: unknown, value: unknown) {
  if (typeof all === 'string') return find(budget, all, text(value)) >= 0;
  if (all instanceof Dict) return all.has(value);
  return list(budget, all).some((item) => isEqual(budget, item, value));
}

export function compare(budget: Budget, sign: string, left: any, right: any): boolean {
  if (sign === '==') return isEqual(budget, left, right);
  if (sign === '!=') return !isEqual(budget, left, right);
  if (sign === 'in') return contains(budget, right, left);
  if (sign === 'not in') return !contains(budget, right, left);
  const difference = order(budget, defined(left), defined(right));
  if (sign === '<') return difference < 0;
  if (sign === '<=') return difference <= 0;
  return sign === '>' ? difference > 0 : difference >= 0;
}

/** Adds a text at the end of another. The engine copies neither. */
function concatenated(budget: Budget, left: string, right: string) {
  budget.spend(Math.min(left.length, right.length));
  return left + right;
}

/** values: of the operator ~ */
export const joinTexts = (budget: Budget, values: unknown[]) =>
  values.reduce(
    (all: string, value) => concatenated(budget, all, typeof value === 'string' ? value : write(budget, value)),
    '',
  );

/** value: text or list */
function repeated(budget: Budget, value: any, count: number) {
  const times = Math.max(count, 0);
  if (typeof value === 'string') {
    budget.spend(value.length * times);
    return value.repeat(times);
  }
  budget.items((value.length + 1) * times);
  const items = Array.from({ length: value.length * times }, (_, i) => value[i % value.length]);
  return isKind(value, 'tuple') ? tuple(items) : items;
}

export function calculate(budget: Budget, sign: string, left: any, right: any): any {
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
  const isList = (one: unknown) => isSequence(one) && !isKind(one, 'range');
  if (sign === '+' && isList(left) && isKind(right, left.kind)) {
    const items = [...budget.list(left), ...budget.list(right)];
    return isKind(left, 'tuple') ? tuple(items) : items;
  }
  if (sign === '*' && (typeof left === 'string' || isList(left))) return repeated(budget, left, integer(right));
  if (sign === '*' && (typeof right === 'string' || isList(right))) return repeated(budget, right, integer(left));
  throw new Fault(`${sign} does not take ${nameOf(defined(left))} and ${nameOf(defined(right))}`);
}

function arithmetic(sign: string, a: number, b: number) {
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

/** Returns a part of a text or list, by the rules of Python for indices. parts: begin, end, step. */
export function slice(budget: Budget, value: any, parts: (number | null | undefined)[]) {
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

function pick(all: any[], begin: number | undefined, end: number | undefined, step: number) {
  if (step === 1) return all.slice(begin ?? 0, end);
  const { length } = all;
  const [least, most] = step > 0 ? [0, length] : [-1, length - 1];
  const limit = (at: number) => Math.min(Math.max(at < 0 ? at + length : at, least), most);
  const first = begin === undefined ? (step > 0 ? least : most) : limit(begin);
  const last = end === undefined ? (step > 0 ? most : least) : limit(end);
  const items = [];
  for (let i = first; step > 0 ? i < last : i > last; i += step) items.push(all[i]);
  return items;
}

/** items: of its part */
function rangeOf({ limits: [first, , width = 1] = [0, 0] }: Items, items: number[], step: number) {
  return range(items, [items[0] ?? first, (items.at(-1) ?? first) + width * step, width * step]);
}

function range(items: number[], limits: number[]) {
  return mark(items, 'range', { limits: limits[2] === 1 ? limits.slice(0, 2) : limits });
}

/** Maximum of numbers in a range, as in the sandbox of Jinja. */
const MAX_RANGE = 100_000;

export function makeRange(budget: Budget, args: unknown[]) {
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

const view = (name: string, items: any[]) => mark(items, 'view', { name });

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
    const found = value.findIndex((one: unknown, i: number) => i >= begin && isEqual(budget, one, item));
    if (found < 0) throw new Fault('the list does not contain the item');
    return found;
  },
  'count item': (budget, value, item) => value.filter((one: unknown) => isEqual(budget, one, item)).length,
  copy: (budget, value) => [...budget.list(value)],
});
const TEXT_METHODS = textMethods(fieldOf);

/** Returns the method of a value, or undefined if there is none. */
function methodOf(value: any, name: string) {
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

/** Looks up a name after a dot as a method, then as a key, as Jinja does; a name in brackets in the other order. */
export function fieldOf(budget: Budget, value: any, key: any, dotted = false) {
  defined(value);
  if (typeof key === 'string') budget.text(key);
  const method = () => (typeof key === 'string' ? methodOf(value, key) : undefined);
  if (dotted && method()) return method();
  if (value instanceof Dict && value.has(key)) return value.get(key);
  const named = isKind(value, 'tuple') && value.names ? value.names.indexOf(key) : -1;
  const found = value instanceof Fields ? value.get(key) : named < 0 ? itemAt(budget, value, key) : value[named];
  return found ?? method() ?? new Undefined(typeof key === 'string' ? key : `item ${write(budget, key)}`);
}

function itemAt(budget: Budget, value: any, key: unknown) {
  if (typeof key !== 'boolean' && !Number.isInteger(key)) return undefined;
  if (typeof value === 'string' && hasPairs(budget.text(value))) return characters(budget, value).at(Number(key));
  return typeof value === 'string' || isSequence(value) ? value.at(Number(key)) : undefined;
}
