// Handles values of a chat template by the rules of Python: which are true, how they are written, which are equal.

/** An error to which render.js adds the line. */
export class Fault extends Error {}

/** Maximum characters of a text, items of a list, and parts of all lists and dictionaries in a value. */
const [MAX_TEXT, MAX_ITEMS, MAX_PARTS] = [2 ** 26, 1_000_000, 1_000_000];

/** Throws if a template has made a text or a list that is too long. @template T @param {T} value @returns {T} */
export function limited(value) {
  if (typeof value === 'string' && value.length > MAX_TEXT)
    throw new Fault(`a text of more than ${MAX_TEXT} characters`);
  if (Array.isArray(value) && value.length > MAX_ITEMS) throw new Fault(`a list of more than ${MAX_ITEMS} items`);
  return value;
}

/** Throws if a value has too many parts, because a list may contain another list many times. @param {unknown} value */
function limitParts(value) {
  const rest = [value];
  for (let parts = 0; rest.length > 0; parts++) {
    if (parts > MAX_PARTS) throw new Fault(`a value of more than ${MAX_PARTS} parts`);
    const part = rest.pop();
    if (Array.isArray(part)) for (const item of part) rest.push(item);
    else if (isDictionary(part)) for (const item of Object.values(part)) rest.push(item);
  }
}

/** The value of a variable or field that does not exist. It is written as an empty text. */
export class Undefined {
  /** @param {string} name */
  constructor(name) {
    this.name = name;
  }
}

/** An object with fields that statements in loops may set. */
export class Namespace {
  /** @param {Record<string, unknown>} fields */
  constructor(fields) {
    this.fields = new Map(Object.entries(fields));
  }
}

/** @param {unknown} value @returns {value is Record<string, unknown>} */
export const isDictionary = (value) =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  !(value instanceof Undefined) &&
  !(value instanceof Namespace);

/** @param {unknown} value */
export function isTrue(value) {
  if (value instanceof Undefined) return false;
  if (Array.isArray(value)) return value.length > 0;
  return isDictionary(value) ? Object.keys(value).length > 0 : Boolean(value);
}

/** @param {unknown} a @param {unknown} b */
export function isEqual(a, b) {
  limitParts(a);
  return haveEqualParts(a, b);
}

/** @param {unknown} a @param {unknown} b @returns {boolean} */
function haveEqualParts(a, b) {
  if (a instanceof Undefined) return b instanceof Undefined;
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((item, i) => haveEqualParts(item, b[i]));
  if (isDictionary(a) && isDictionary(b)) {
    const keys = Object.keys(a);
    return (
      keys.length === Object.keys(b).length &&
      keys.every((key) => Object.hasOwn(b, key) && haveEqualParts(a[key], b[key]))
    );
  }
  const number = (/** @type {unknown} */ value) => (typeof value === 'boolean' ? Number(value) : value);
  return number(a) === number(b);
}

/** Returns the text of a value in {{ … }}. @param {unknown} value @returns {string} */
export function write(value) {
  if (typeof value === 'string') return value;
  limitParts(value);
  return value instanceof Undefined ? '' : represent(value);
}

/** Returns the text of a value as repr in Python. @param {unknown} value @returns {string} */
function represent(value) {
  if (value === null || value === undefined) return 'None';
  if (value === true) return 'True';
  if (value === false) return 'False';
  if (typeof value === 'string') return representText(value);
  if (Array.isArray(value)) return `[${value.map(represent).join(', ')}]`;
  if (isDictionary(value))
    return `{${Object.entries(value)
      .map(([key, item]) => `${representText(key)}: ${represent(item)}`)
      .join(', ')}}`;
  return String(value);
}

/** @param {string} text */
function representText(text) {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  const inside = text
    .replaceAll('\\', '\\\\')
    .replaceAll('\n', '\\n')
    .replaceAll('\r', '\\r')
    .replaceAll('\t', '\\t')
    .replaceAll(quote, `\\${quote}`);
  return quote + inside + quote;
}

/**
 * Returns JSON as json.dumps in Python with ensure_ascii=False, so that letters beyond ASCII are not escaped.
 * @param {unknown} value
 * @param {number} [indent]
 */
export function toJson(value, indent) {
  limitParts(value);
  return partToJson(value, indent, '');
}

/**
 * @param {unknown} value
 * @param {number | undefined} indent
 * @param {string} margin of the line
 * @returns {string}
 */
function partToJson(value, indent, margin) {
  if (value === null || typeof value !== 'object') return JSON.stringify(value ?? null);
  const isList = Array.isArray(value);
  const inner = indent === undefined ? '' : `${margin}${' '.repeat(indent)}`;
  const parts = isList
    ? value.map((item) => partToJson(item, indent, inner))
    : Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}: ${partToJson(item, indent, inner)}`);
  const [open, close] = isList ? '[]' : '{}';
  if (parts.length === 0) return open + close;
  if (indent === undefined) return open + parts.join(', ') + close;
  return `${open}\n${parts.map((part) => inner + part).join(',\n')}\n${margin}${close}`;
}

/**
 * Returns the items of a loop or a filter, or undefined if a value has none.
 * @param {unknown} value
 * @returns {unknown[] | undefined}
 */
export function itemsOf(value) {
  if (Array.isArray(value)) return value;
  if (typeof value === 'string') return [...value];
  if (value instanceof Undefined) return [];
  return isDictionary(value) ? Object.keys(value) : undefined;
}
