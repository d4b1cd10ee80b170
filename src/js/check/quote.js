// Quotes values for error messages in a short form, on one line, in constant time for values of any size.

const MAX_LENGTH = 80;
const MAX_DEPTH = 3;
const MAX_NAMES = 8;

/**
 * Returns a short form of a value, of about 80 characters at most.
 * @param {unknown} value
 * @param {number} [most] characters
 * @returns {string}
 */
export function quote(value, most = MAX_LENGTH) {
  try {
    return quoteAny(value, most, MAX_DEPTH);
  } catch {
    // A getter or a proxy threw.
    return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
  }
}

/** @param {readonly unknown[]} shape */
export const formatShape = (shape) => `[${shape.join(',')}]`;

/**
 * Lists the first few of many names.
 * @param {readonly string[]} names
 * @returns {string}
 */
export function quoteNames(names) {
  const shown = names.slice(0, MAX_NAMES).map((name) => cut(name, MAX_LENGTH));
  const more = names.length - shown.length;
  return `${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/**
 * @param {unknown} value
 * @param {number} most
 * @param {number} depth
 * @returns {string}
 */
function quoteAny(value, most, depth) {
  if (typeof value === 'string') return `'${cut(value, most)}'`;
  if (typeof value === 'bigint') return quoteInteger(value);
  if (typeof value === 'symbol') return `Symbol(${cut(value.description ?? '', most)})`;
  if (typeof value === 'function') return 'a function';
  if (typeof value !== 'object' || value === null) return Object.is(value, -0) ? '-0' : String(value);
  if (Array.isArray(value)) return quoteList(value, most, depth);
  const name = value.constructor?.name;
  return `an object (${typeof name === 'string' && name ? cut(name, most) : 'no prototype'})`;
}

/**
 * @param {readonly unknown[]} list
 * @param {number} most
 * @param {number} depth
 */
function quoteList(list, most, depth) {
  let text = '';
  for (let i = 0; i < list.length; i++) {
    if (text.length >= most || depth === 0) return `[${text}…]`;
    text += `${i === 0 ? '' : ','}${quoteAny(list[i], most - text.length, depth - 1)}`;
  }
  return `[${text}]`;
}

/** Conversion to decimal takes more than linear time, so large integers are not shown. @param {bigint} value */
const quoteInteger = (value) =>
  BigInt.asIntN(256, value) === value ? `${value}n` : 'an integer of more than 256 bits';

/**
 * Escapes a text to one line and cuts it to `most` characters.
 * @param {string} text
 * @param {number} most
 */
export function cut(text, most) {
  const escaped = JSON.stringify(text.slice(0, most + 1))
    .slice(1, -1)
    .replaceAll('\\"', '"');
  return escaped.length <= most ? escaped : `${escaped.slice(0, Math.max(most - 1, 0))}…`;
}
