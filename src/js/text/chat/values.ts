// The values of a template, by the rules of Python. Texts, booleans, null (None) and lists are JavaScript's. An integer
// number is an int; a float with the value of an integer is a Float.

import { type Budget, Fault } from './budget.ts';

/** Maximum depth of lists and dictionaries within each other. */
const MAX_DEPTH = 200;

/** A float whose value is an integer. */
export class Float {
  declare value: number;

  constructor(value: number) {
    this.value = value;
  }
}

export const float = (value: number): number | Float => (Number.isInteger(value) ? new Float(value) : value);

export const isFloat = (value: unknown) =>
  value instanceof Float || (typeof value === 'number' && !Number.isInteger(value));

/**
 * A value of Python other than a list: a tuple, maybe with names of its items; a range(), with its arguments as
 * `limits`; keys, values or items of a dictionary, with a name; or the result of a filter such as map, which can be
 * read once and has no length.
 */
export type Items = any[] & {
  kind?: 'tuple' | 'range' | 'view' | 'lazy';
  limits?: number[];
  name?: string;
  names?: string[];
};

export const mark = (
  items: any[],
  kind: NonNullable<Items['kind']>,
  more?: { limits?: number[]; name?: string; names?: string[] },
): Items => Object.assign(items, { kind, ...more });
/** items: a new array */
export const tuple = (items: any[]) => mark(items, 'tuple');

export const isKind = (value: any, kind: Items['kind']) => Array.isArray(value) && (value as Items).kind === kind;
export const isSequence = (value: unknown) => Array.isArray(value) && !isKind(value, 'view') && !isKind(value, 'lazy');

/** A dictionary. Keys may be of several types, and keep their order. */
export class Dict {
  #entries: Map<unknown, [key: any, value: any]> = new Map();

  constructor(entries: Iterable<readonly [unknown, unknown]> = []) {
    for (const [key, value] of entries) this.set(key, value);
  }

  set(key: unknown, value: unknown) {
    const known = hash(key);
    this.#entries.set(known, [this.#entries.get(known)?.[0] ?? key, value]);
  }

  get(key: unknown) {
    return this.#entries.get(hash(key))?.[1];
  }

  has(key: unknown) {
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

/** Returns a value that is the same for equal values. */
export function hash(value: unknown): unknown {
  if (typeof value === 'boolean') return Number(value);
  if (value instanceof Float) return value.value;
  if (isKind(value, 'tuple')) return `\0${JSON.stringify((value as any[]).map(hash))}`;
  if (Array.isArray(value) || value instanceof Dict) throw new Fault(`${nameOf(value)} cannot be a key`);
  return value;
}

/** The value of a variable or field that does not exist. It is written as an empty text. */
export class Undefined {
  declare name: string;

  constructor(name: string) {
    this.name = name;
  }
}

/** An object with fields that a template reads. Statements may set those of namespace(). */
export class Fields {
  declare fields: Map<string, unknown>;
  declare name: string;

  constructor(fields: Iterable<readonly [string, unknown]>, name = 'Namespace') {
    this.fields = new Map(fields);
    this.name = name;
  }

  /** undefined if there is no such field */
  get(name: unknown): unknown {
    return this.fields.get(name as string);
  }
}
export class Namespace extends Fields {}

/** A function that a template may call. `run` may be a generator, because a macro may pause. */
export type Run = (budget: Budget, args: any[], named: Map<string, any>) => any;
export class Callable extends Fields {
  declare run: Run;

  constructor(name: string, run: Run, fields: Iterable<readonly [string, unknown]> = []) {
    super(fields, name);
    this.run = run;
  }
}

export function nameOf(value: unknown): string {
  if (value instanceof Undefined) return `${value.name}, which is undefined,`;
  if (value === null) return 'none';
  if (isFloat(value)) return 'a float';
  if (isKind(value, 'tuple')) return 'a tuple';
  if (isSequence(value)) return 'a list';
  if (value instanceof Dict) return 'a dictionary';
  if (value instanceof Fields) return `the function ${value.name}`;
  const types = {
    string: 'a text',
    number: 'an integer',
    boolean: 'a boolean',
  } as Record<string, string>;
  return types[typeof value] ?? 'an iterator';
}

/** Converts the values of JSON, such as messages. */
export function fromJson(budget: Budget, value: unknown, depth = 0): any {
  limitDepth(depth);
  if (Array.isArray(value)) return budget.list(value).map((item) => fromJson(budget, item, depth + 1));
  if (typeof value !== 'object' || value === null) return value ?? null;
  const entries = budget.list(Object.entries(value));
  return new Dict(entries.map(([key, item]) => [key, fromJson(budget, item, depth + 1)]));
}

/** Returns the keys and values of a dictionary as pairs. */
export const pairsOf = (budget: Budget, dictionary: Dict) =>
  budget.list(dictionary.entries()).map((entry: any[]) => tuple([...entry]));

export function limitDepth(depth: number) {
  if (depth > MAX_DEPTH) throw new Fault(`lists are nested deeper than ${MAX_DEPTH} levels`);
}

export function isTrue(value: unknown): boolean {
  if (value instanceof Undefined) return false;
  if (value instanceof Float) return value.value !== 0;
  if (Array.isArray(value)) return isKind(value, 'lazy') || value.length > 0;
  return value instanceof Dict ? value.size > 0 : Boolean(value);
}

/** Returns the value of a number or boolean, undefined for other values. */
export function numeric(value: unknown) {
  if (value instanceof Float) return value.value;
  return typeof value === 'number' || typeof value === 'boolean' ? Number(value) : undefined;
}

export function number(value: unknown): number {
  const result = numeric(value);
  if (result === undefined) throw new Fault(`a number is expected, not ${nameOf(value)}`);
  return result;
}

export function text(value: unknown): string {
  if (typeof value === 'string') return value;
  throw new Fault(`a text is expected, not ${nameOf(value)}`);
}

export function integer(value: unknown): number {
  if (typeof value === 'boolean' || Number.isInteger(value)) return Number(value);
  throw new Fault(`an integer is expected, not ${nameOf(value)}`);
}

export function isEqual(budget: Budget, a: unknown, b: unknown, depth = 0): boolean {
  limitDepth(depth);
  budget.items(1);
  if (typeof a === 'string' && typeof b === 'string') return a.length === b.length && budget.text(a) === b;
  if (a instanceof Undefined) return b instanceof Undefined;
  if (Array.isArray(a) && Array.isArray(b))
    return (
      isKind(b, (a as Items).kind) &&
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

/** Compares two values for their order: negative if a is first, 0 if they are equal. */
export function order(budget: Budget, a: unknown, b: unknown, depth = 0): number {
  limitDepth(depth);
  budget.items(1);
  if (typeof a === 'string' && typeof b === 'string') return orderOfTexts(budget, a, b);
  const [x, y] = [numeric(a), numeric(b)];
  if (x !== undefined && y !== undefined) return x < y ? -1 : x > y ? 1 : x - y;
  if (!isSequence(a) || !isSequence(b) || !isKind(b, (a as Items).kind))
    throw new Fault(`${nameOf(a)} and ${nameOf(b)} have no order`);
  const [left, right] = [a as unknown[], b as unknown[]];
  for (let i = 0; i < Math.min(left.length, right.length); i++)
    if (!isEqual(budget, left[i], right[i])) return order(budget, left[i], right[i], depth + 1);
  return left.length - right.length;
}

/** Compares texts by code points. */
function orderOfTexts(budget: Budget, a: string, b: string) {
  const length = Math.min(a.length, b.length);
  budget.spend(2 * length);
  if (!hasPairs(a) && !hasPairs(b)) return a < b ? -1 : a > b ? 1 : 0;
  let at = 0;
  while (at < length && a[at] === b[at]) at++;
  if (at === length) return a.length - b.length;
  // The second half of a pair tells the order of two pairs; a pair is after all other characters.
  const rank = (s: string) => (/[\ud800-\udfff]/.test(s[at]) ? 0x10000 : 0) + s.charCodeAt(at);
  return rank(a) - rank(b);
}

export const hasPairs = (value: string) => /[\ud800-\udfff]/.test(value);

export function characters(budget: Budget, value: string): string[] {
  budget.items(value.length);
  return [...value];
}

/** Returns the items of a loop or a filter. An iterator has none afterwards. */
export function list(budget: Budget, value: unknown): any[] {
  const items = itemsOf(budget, value);
  if (items) return items;
  throw new Fault(`a list is expected, not ${nameOf(value)}`);
}

/** undefined if a value has no items */
export function itemsOf(budget: Budget, value: unknown): any[] | undefined {
  if (isKind(value, 'lazy')) return (value as any[]).splice(0);
  if (Array.isArray(value)) return budget.list(value);
  if (typeof value === 'string') return characters(budget, value);
  if (value instanceof Undefined) return [];
  return value instanceof Dict ? budget.list(value.keys()) : undefined;
}
