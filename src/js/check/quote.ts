// Quotes values for error messages in a short form, on one line, in constant time for values of any size.

const MAX_LENGTH = 80;
const MAX_DEPTH = 3;
const MAX_NAMES = 8;

/** Returns a short form of a value, of about 80 characters at most. most: characters. */
export function quote(value: unknown, most: number = MAX_LENGTH): string {
  try {
    return quoteAny(value, most, MAX_DEPTH);
  } catch {
    // A getter or a proxy threw.
    return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
  }
}

export const formatShape = (shape: readonly unknown[]) => `[${shape.join(',')}]`;

/** Lists the first few of many names. */
export function quoteNames(names: readonly string[]): string {
  const shown = names.slice(0, MAX_NAMES).map((name) => cut(name, MAX_LENGTH));
  const more = names.length - shown.length;
  return `${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

function quoteAny(value: unknown, most: number, depth: number): string {
  if (typeof value === 'string') return `'${cut(value, most)}'`;
  if (typeof value === 'bigint') return quoteInteger(value);
  if (typeof value === 'symbol') return `Symbol(${cut(value.description ?? '', most)})`;
  if (typeof value === 'function') return 'a function';
  if (typeof value !== 'object' || value === null) return Object.is(value, -0) ? '-0' : String(value);
  if (Array.isArray(value)) return quoteList(value, most, depth);
  const name = value.constructor?.name;
  return `an object (${typeof name === 'string' && name ? cut(name, most) : 'no prototype'})`;
}

function quoteList(list: readonly unknown[], most: number, depth: number) {
  let text = '';
  for (let i = 0; i < list.length; i++) {
    if (text.length >= most || depth === 0) return `[${text}…]`;
    text += `${i === 0 ? '' : ','}${quoteAny(list[i], most - text.length, depth - 1)}`;
  }
  return `[${text}]`;
}

/** Conversion to decimal takes more than linear time, so large integers are not shown. */
const quoteInteger = (value: bigint) =>
  BigInt.asIntN(256, value) === value ? `${value}n` : 'an integer of more than 256 bits';

/** Escapes a text to one line and cuts it to `most` characters. */
export function cut(text: string, most: number) {
  const escaped = JSON.stringify(text.slice(0, most + 1))
    .slice(1, -1)
    .replaceAll('\\"', '"');
  return escaped.length <= most ? escaped : `${escaped.slice(0, Math.max(most - 1, 0))}…`;
}
