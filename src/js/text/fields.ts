// Reads the fields of a tokenizer.json, with their paths for errors.

import { quote } from '../check/quote.ts';
import { formatError } from '../io/bytes.ts';

const CALLER = 'openTokenizer';
/** Maximum depth of nesting. It is limited because a file that is passed as an object may contain itself. */
const MAX_DEPTH = 32;
/**
 * Steps of each kind. Each takes time in proportion to the text, and pre-tokenizers also process the words that earlier
 * ones have made.
 */
const MAX_STEPS = { normalizer: 32, 'pre-tokenizer': 12 };
const MAX_OTHER_STEPS = 16;
const MAX_NAME_LENGTH = 60;

/** A Map if this module parsed the file, or a plain object of the caller. */
export class Fields {
  declare path: string;

  #values: Record<string, unknown> | Map<string, unknown>;
  #depth: number;
  #spent: { steps: Map<string, number>; cost: number };

  /** spent: numbers of steps, and cost of regular expressions, of the whole file so far */
  constructor(
    values: unknown,
    path: string,
    depth = 0,
    spent: { steps: Map<string, number>; cost: number } = { steps: new Map(), cost: 0 },
  ) {
    if (depth > MAX_DEPTH) throw formatError(CALLER, `nested deeper than ${MAX_DEPTH} levels`, { parameter: path });
    if (values === null || typeof values !== 'object' || Array.isArray(values))
      throw fieldError(path || 'the file', values, 'an object');
    this.#values = values as Record<string, unknown> | Map<string, unknown>;
    this.#depth = depth;
    this.#spent = spent;
    this.path = path;
  }

  pathOf(name: string) {
    const short = name.length > MAX_NAME_LENGTH ? `${name.slice(0, MAX_NAME_LENGTH)}…` : name;
    return this.path ? `${this.path}.${short}` : short;
  }

  /** Returns a field, or null if it is missing. */
  get(name: string): unknown {
    const values = this.#values;
    if (values instanceof Map) return values.get(name) ?? null;
    return Object.hasOwn(values, name) ? (values[name] ?? null) : null;
  }

  error(name: string, expected: string): Error {
    return fieldError(this.pathOf(name), this.get(name), expected);
  }

  /** fallback: the value if the field is missing or null */
  #read<T>(name: string, expected: string, accepts: (value: unknown) => value is T, fallback?: T): T {
    const value = this.get(name);
    if (value === null && fallback !== undefined) return fallback;
    if (!accepts(value)) throw this.error(name, expected);
    return value;
  }

  string(name: string, fallback?: string) {
    return this.#read(name, 'a string', (value) => typeof value === 'string', fallback);
  }

  boolean(name: string, fallback?: boolean) {
    return this.#read(name, 'true or false', (value) => typeof value === 'boolean', fallback);
  }

  /** The integer must be from 0 to `most`. */
  integer(name: string, { most = 2 ** 31, fallback }: { most?: number; fallback?: number } = {}) {
    const accepts = (value: unknown): value is number =>
      Number.isSafeInteger(value) && Number(value) >= 0 && Number(value) <= most;
    return this.#read(name, `an integer from 0 to ${most}`, accepts, fallback);
  }

  word<T extends string>(name: string, words: readonly T[], fallback?: T): T {
    const accepts = (value: unknown): value is T => words.includes(value as T);
    return this.#read(name, words.map((word) => `'${word}'`).join(' or '), accepts, fallback);
  }

  list(name: string): unknown[] {
    return this.#read(name, 'a list', Array.isArray);
  }

  object(name: string) {
    return this.#inner(this.get(name), this.pathOf(name));
  }

  objects(name: string) {
    return this.list(name).map((value, i) => this.#inner(value, `${this.pathOf(name)}[${i}]`));
  }

  #inner(value: unknown, path: string) {
    return new Fields(value, path, this.#depth + 1, this.#spent);
  }

  /** Adds the cost of a regular expression to the total of the file, which must be at most `most`. */
  spend(name: string, cost: number, most: number) {
    this.#spent.cost += cost;
    if (this.#spent.cost > most) throw this.error(name, 'smaller regular expressions in the whole file');
  }

  /** Returns the names and values of an object, such as a vocabulary. */
  map(name: string): Map<string, unknown> {
    const values = this.object(name).#values;
    return values instanceof Map ? values : new Map(Object.entries(values));
  }

  /** The entry for the field `type`. Counts a step of this kind, which is limited and named in errors. */
  choose<T>(kind: string, known: Record<string, T>): T {
    const type = this.string('type');
    const steps = (this.#spent.steps.get(kind) ?? 0) + 1;
    const most = (MAX_STEPS as Record<string, number>)[kind] ?? MAX_OTHER_STEPS;
    if (steps > most) throw fieldError(this.path, type, `at most ${most} steps of the kind ${kind} in the file`);
    this.#spent.steps.set(kind, steps);
    if (!Object.hasOwn(known, type))
      throw fieldError(
        this.pathOf('type'),
        type,
        `a ${kind} that is supported: ${Object.keys(known).sort().join(', ')}`,
      );
    return known[type];
  }
}

export const fieldError = (path: string, got: unknown, expected: string) =>
  formatError(CALLER, `${path} is ${got === null ? 'missing' : quote(got)}, expected ${expected}`, {
    parameter: path,
    expected,
    got,
  });
