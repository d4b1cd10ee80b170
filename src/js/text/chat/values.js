// The values of a chat template, which follow the rules of Python. Texts, booleans, null (None) and lists are those of
// JavaScript. A number is an int if it is an integer; a float with the value of an integer is a Float.

import { Fault } from './budget.js';

/** @import { Budget } from './budget.js' */

/** Maximum depth of lists and dictionaries within each other. */
const MAX_DEPTH = 200;

/** A float whose value is an integer. */
export class Float {
  /** @param {number} value */
  constructor(value) {
    this.value = value;
  }
}

/** @param {number} value @returns {number | Float} */
export const float = (value) => (Number.isInteger(value) ? new Float(value) : value);

/** @param {unknown} value */
export const isFloat = (value) => value instanceof Float || (typeof value === 'number' && !Number.isInteger(value));

/**
 * An array for a value of Python other than a list: a tuple; the numbers of range(), with its arguments as `limits`;
 * the
 * keys, values or items of a dictionary, with a name; or the result of a filter such as map, which can be read once and
 * has no length. A tuple may have names of its items.
 * @typedef {any[] & { kind?: 'tuple' | 'range' | 'view' | 'lazy', limits?: number[], name?: string, names?: string[] }}
 * Items
 */

/**
 * @param {any[]} items
 * @param {NonNullable<Items['kind']>} kind
 * @param {{ limits?: number[], name?: string, names?: string[] }} [more]
 * @returns {Items}
 */
export const mark = (items, kind, more) => Object.assign(items, { kind, ...more });
/** @param {any[]} items a new array */
export const tuple = (items) => mark(items, 'tuple');

/** @param {any} value @param {Items['kind']} kind */
export const isKind = (value, kind) => Array.isArray(value) && /** @type {Items} */ (value).kind === kind;
/** @param {unknown} value */
export const isSequence = (value) => Array.isArray(value) && !isKind(value, 'view') && !isKind(value, 'lazy');

/** A dictionary. Keys may be of several types, and keep their order. */
export class Dict {
  /** @type {Map<unknown, [key: any, value: any]>} */
  #entries = new Map();

  /** @param {Iterable<readonly [unknown, unknown]>} [entries] */
  constructor(entries = []) {
    for (const [key, value] of entries) this.set(key, value);
  }

  /** @param {unknown} key @param {unknown} value */
  set(key, value) {
    const known = hash(key);
    this.#entries.set(known, [this.#entries.get(known)?.[0] ?? key, value]);
  }

  /** @param {unknown} key */
  get(key) {
    return this.#entries.get(hash(key))?.[1];
  }

  /** @param {unknown} key */
  has(key) {
    return this.#entries.has(hash(key));
  }

  get size() {
    return this.#entries.size;
  }

  keys() {
    return Array.from(this.#entries.values(), ([key]) => key);
  }

  values() {
    return Array.from(this.#entries.values(), ([, value]) => value);
  }

  entries() {
    return Array.from(this.#entries.values());
  }
}

/** Returns a value that is the same for equal values. @param {unknown} value @returns {unknown} */
export function hash(value) {
  if (typeof value === 'boolean') return Number(value);
  if (value instanceof Float) return value.value;
  if (isKind(value, 'tuple')) return `\0${JSON.stringify(/** @type {any[]} */ (value).map(hash))}`;
  if (Array.isArray(value) || value instanceof Dict) throw new Fault(`${nameOf(value)} cannot be a key`);
  return value;
}

/** The value of a variable or field that does not exist. It is written as an empty text. */
export class Undefined {
  /** @param {string} name */
  constructor(name) {
    this.name = name;
  }
}

/** An object with fields that a template reads. Statements may set those of namespace(). */
export class Fields {
  /** @param {Iterable<readonly [string, unknown]>} fields @param {string} [name] */
  constructor(fields, name = 'Namespace') {
    this.fields = new Map(fields);
    this.name = name;
  }

  /** @param {unknown} name @returns {unknown} undefined if there is no such field */
  get(name) {
    return this.fields.get(/** @type {string} */ (name));
  }
}
export class Namespace extends Fields {}

/**
 * A function that a template may call. `run` may be a generator, because a macro may pause.
 * @typedef {(budget: Budget, args: any[], named: Map<string, any>) => any} Run
 */
export class Callable extends Fields {
  /** @param {string} name @param {Run} run @param {Iterable<readonly [string, unknown]>} [fields] */
  constructor(name, run, fields = []) {
    super(fields, name);
    this.run = run;
  }
}

/** @param {unknown} value @returns {string} */
export function nameOf(value) {
  if (value instanceof Undefined) return `${value.name}, which is undefined,`;
  if (value === null) return 'none';
  if (isFloat(value)) return 'a float';
  if (isKind(value, 'tuple')) return 'a tuple';
  if (isSequence(value)) return 'a list';
  if (value instanceof Dict) return 'a dictionary';
  if (value instanceof Fields) return `the function ${value.name}`;
  const types = /** @type {Record<string, string>} */ ({
    string: 'a text',
    number: 'an integer',
    boolean: 'a boolean',
  });
  return types[typeof value] ?? 'an iterator';
}

/**
 * Converts the values of JSON, such as messages.
 * @param {Budget} budget
 * @param {unknown} value
 * @param {number} [depth]
 * @returns {any}
 */
export function fromJson(budget, value, depth = 0) {
  limitDepth(depth);
  if (Array.isArray(value)) return budget.list(value).map((item) => fromJson(budget, item, depth + 1));
  if (typeof value !== 'object' || value === null) return value ?? null;
  const entries = budget.list(Object.entries(value));
  return new Dict(entries.map(([key, item]) => [key, fromJson(budget, item, depth + 1)]));
}

/** Returns the keys and values of a dictionary as pairs. @param {Budget} budget @param {Dict} dictionary */
export const pairsOf = (budget, dictionary) =>
  budget.list(dictionary.entries()).map((/** @type {any[]} */ entry) => tuple([...entry]));

/** @param {number} depth */
export function limitDepth(depth) {
  if (depth > MAX_DEPTH) throw new Fault(`lists are nested deeper than ${MAX_DEPTH} levels`);
}

/** @param {unknown} value @returns {boolean} */
export function isTrue(value) {
  if (value instanceof Undefined) return false;
  if (value instanceof Float) return value.value !== 0;
  if (Array.isArray(value)) return isKind(value, 'lazy') || value.length > 0;
  return value instanceof Dict ? value.size > 0 : Boolean(value);
}

/** Returns the value of a number or boolean, undefined for other values. @param {unknown} value */
export function numeric(value) {
  if (value instanceof Float) return value.value;
  return typeof value === 'number' || typeof value === 'boolean' ? Number(value) : undefined;
}

/** @param {unknown} value @returns {number} */
export function number(value) {
  const result = numeric(value);
  if (result === undefined) throw new Fault(`a number is expected, not ${nameOf(value)}`);
  return result;
}

/** @param {unknown} value @returns {string} */
export function text(value) {
  if (typeof value === 'string') return value;
  throw new Fault(`a text is expected, not ${nameOf(value)}`);
}

/** @param {unknown} value @returns {number} */
export function integer(value) {
  if (typeof value === 'boolean' || Number.isInteger(value)) return Number(value);
  throw new Fault(`an integer is expected, not ${nameOf(value)}`);
}

/**
 * @param {Budget} budget
 * @param {unknown} a
 * @param {unknown} b
 * @param {number} [depth]
 * @returns {boolean}
 */
export function isEqual(budget, a, b, depth = 0) {
  limitDepth(depth);
  budget.items(1);
  if (typeof a === 'string' && typeof b === 'string') return a.length === b.length && budget.text(a) === b;
  if (a instanceof Undefined) return b instanceof Undefined;
  if (Array.isArray(a) && Array.isArray(b))
    return (
      isKind(b, /** @type {Items} */ (a).kind) &&
      a.length === b.length &&
      a.every((item, i) => isEqual(budget, item, b[i], depth + 1))
    );
  if (a instanceof Dict && b instanceof Dict)
    return (
      a.size === b.size &&
      a.entries().every(([key, item]) => b.has(key) && isEqual(budget, item, b.get(key), depth + 1))
    );
  return (numeric(a) ?? a) === (numeric(b) ?? b);
}

/**
 * Compares two values for their order: negative if a is first, 0 if they are equal.
 * @param {Budget} budget
 * @param {unknown} a
 * @param {unknown} b
 * @param {number} [depth]
 * @returns {number}
 */
export function order(budget, a, b, depth = 0) {
  limitDepth(depth);
  budget.items(1);
  if (typeof a === 'string' && typeof b === 'string') return orderOfTexts(budget, a, b);
  const [x, y] = [numeric(a), numeric(b)];
  if (x !== undefined && y !== undefined) return x < y ? -1 : x > y ? 1 : x - y;
  if (!isSequence(a) || !isSequence(b) || !isKind(b, /** @type {Items} */ (a).kind))
    throw new Fault(`${nameOf(a)} and ${nameOf(b)} have no order`);
  const [left, right] = [/** @type {unknown[]} */ (a), /** @type {unknown[]} */ (b)];
  for (let i = 0; i < Math.min(left.length, right.length); i++)
    if (!isEqual(budget, left[i], right[i])) return order(budget, left[i], right[i], depth + 1);
  return left.length - right.length;
}

/** Compares texts by code points. @param {Budget} budget @param {string} a @param {string} b */
function orderOfTexts(budget, a, b) {
  const length = Math.min(a.length, b.length);
  budget.spend(2 * length);
  if (!hasPairs(a) && !hasPairs(b)) return a < b ? -1 : a > b ? 1 : 0;
  let at = 0;
  while (at < length && a[at] === b[at]) at++;
  if (at === length) return a.length - b.length;
  // The second half of a pair tells the order of two pairs; a pair is after all other characters.
  const rank = (/** @type {string} */ s) => (/[\ud800-\udfff]/.test(s[at]) ? 0x10000 : 0) + s.charCodeAt(at);
  return rank(a) - rank(b);
}

/** @param {string} value */
export const hasPairs = (value) => /[\ud800-\udfff]/.test(value);

/** Returns the characters of a text. @param {Budget} budget @param {string} value @returns {string[]} */
export function characters(budget, value) {
  budget.items(value.length);
  return [...value];
}

/**
 * Returns the items of a loop or a filter. An iterator has none afterwards.
 * @param {Budget} budget
 * @param {unknown} value
 * @returns {any[]}
 */
export function list(budget, value) {
  const items = itemsOf(budget, value);
  if (items) return items;
  throw new Fault(`a list is expected, not ${nameOf(value)}`);
}

/** @param {Budget} budget @param {unknown} value @returns {any[] | undefined} undefined if a value has no items */
export function itemsOf(budget, value) {
  if (isKind(value, 'lazy')) return /** @type {any[]} */ (value).splice(0);
  if (Array.isArray(value)) return budget.list(value);
  if (typeof value === 'string') return characters(budget, value);
  if (value instanceof Undefined) return [];
  return value instanceof Dict ? budget.list(value.keys()) : undefined;
}
