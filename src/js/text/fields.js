// Reads the fields of a tokenizer.json and keeps their paths, so that errors can mention them.

import { quote } from '../check/quote.js';
import { formatError } from '../io/bytes.js';

const CALLER = 'openTokenizer';
/** Maximum depth of nesting. It is limited because a file that is passed as an object may contain itself. */
const MAX_DEPTH = 32;
/**
 * Maximum number of steps of each kind in a file. The time of a step is proportional to the length of the text.
 * Pre-tokenizers also process the words that earlier pre-tokenizers have made.
 */
const MAX_STEPS = { normalizer: 32, 'pre-tokenizer': 12 };
const MAX_OTHER_STEPS = 16;
const MAX_NAME_LENGTH = 60;

/**
 * An object of the file. It is a Map if this module parsed the file, or a plain object if the caller passed an object.
 */
export class Fields {
  #values;
  #depth;
  #spent;

  /**
   * @param {unknown} values
   * @param {string} path
   * @param {number} [depth]
   * @param {{ steps: Map<string, number>, cost: number }} [spent] numbers of steps, and cost of regular expressions, of
   *   the whole file so far
   */
  constructor(values, path, depth = 0, spent = { steps: new Map(), cost: 0 }) {
    if (depth > MAX_DEPTH) throw formatError(CALLER, `nested deeper than ${MAX_DEPTH} levels`, { parameter: path });
    if (values === null || typeof values !== 'object' || Array.isArray(values))
      throw fieldError(path || 'the file', values, 'an object');
    this.#values = /** @type {Record<string, unknown> | Map<string, unknown>} */ (values);
    this.#depth = depth;
    this.#spent = spent;
    this.path = path;
  }

  /** @param {string} name */
  pathOf(name) {
    const short = name.length > MAX_NAME_LENGTH ? `${name.slice(0, MAX_NAME_LENGTH)}…` : name;
    return this.path ? `${this.path}.${short}` : short;
  }

  /** Returns a field, or null if it is missing. @param {string} name @returns {unknown} */
  get(name) {
    const values = this.#values;
    if (values instanceof Map) return values.get(name) ?? null;
    return Object.hasOwn(values, name) ? (values[name] ?? null) : null;
  }

  /** @param {string} name @param {string} expected @returns {Error} */
  error(name, expected) {
    return fieldError(this.pathOf(name), this.get(name), expected);
  }

  /**
   * @template T
   * @param {string} name
   * @param {string} expected
   * @param {(value: unknown) => value is T} accepts
   * @param {T} [fallback] the value if the field is missing or null
   * @returns {T}
   */
  #read(name, expected, accepts, fallback) {
    const value = this.get(name);
    if (value === null && fallback !== undefined) return fallback;
    if (!accepts(value)) throw this.error(name, expected);
    return value;
  }

  /** @param {string} name @param {string} [fallback] */
  string(name, fallback) {
    return this.#read(name, 'a string', (value) => typeof value === 'string', fallback);
  }

  /** @param {string} name @param {boolean} [fallback] */
  boolean(name, fallback) {
    return this.#read(name, 'true or false', (value) => typeof value === 'boolean', fallback);
  }

  /**
   * @param {string} name
   * @param {{ most?: number, fallback?: number }} [options] integers from 0 to most are accepted
   */
  integer(name, { most = 2 ** 31, fallback } = {}) {
    /** @type {(value: unknown) => value is number} */
    const accepts = (value) => Number.isSafeInteger(value) && Number(value) >= 0 && Number(value) <= most;
    return this.#read(name, `an integer from 0 to ${most}`, accepts, fallback);
  }

  /** @template {string} T @param {string} name @param {readonly T[]} words @param {T} [fallback] @returns {T} */
  word(name, words, fallback) {
    /** @type {(value: unknown) => value is T} */
    const accepts = (value) => words.includes(/** @type {T} */ (value));
    return this.#read(name, words.map((word) => `'${word}'`).join(' or '), accepts, fallback);
  }

  /** @param {string} name @returns {unknown[]} */
  list(name) {
    return this.#read(name, 'a list', Array.isArray);
  }

  /** @param {string} name */
  object(name) {
    return this.#inner(this.get(name), this.pathOf(name));
  }

  /** Returns a list of objects. @param {string} name */
  objects(name) {
    return this.list(name).map((value, i) => this.#inner(value, `${this.pathOf(name)}[${i}]`));
  }

  /** @param {unknown} value @param {string} path */
  #inner(value, path) {
    return new Fields(value, path, this.#depth + 1, this.#spent);
  }

  /**
   * Adds the cost of a regular expression to the total of the file, which must be at most `most`.
   * @param {string} name
   * @param {number} cost
   * @param {number} most
   */
  spend(name, cost, most) {
    this.#spent.cost += cost;
    if (this.#spent.cost > most) throw this.error(name, 'smaller regular expressions in the whole file');
  }

  /**
   * Returns the names and values of an object, such as a vocabulary.
   * @param {string} name
   * @returns {Map<string, unknown>}
   */
  map(name) {
    const values = this.object(name).#values;
    return values instanceof Map ? values : new Map(Object.entries(values));
  }

  /**
   * Returns the entry of `known` for the value of the field `type`, and counts one more step of this kind.
   * @template T
   * @param {string} kind of the step, for the limit and for errors
   * @param {Record<string, T>} known
   * @returns {T}
   */
  choose(kind, known) {
    const type = this.string('type');
    const steps = (this.#spent.steps.get(kind) ?? 0) + 1;
    const most = /** @type {Record<string, number>} */ (MAX_STEPS)[kind] ?? MAX_OTHER_STEPS;
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

/** @param {string} path @param {unknown} got @param {string} expected */
export const fieldError = (path, got, expected) =>
  formatError(CALLER, `${path} is ${got === null ? 'missing' : quote(got)}, expected ${expected}`, {
    parameter: path,
    expected,
    got,
  });
