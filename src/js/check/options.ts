// Validates options and numbers, in a file of its own, which keeps a bundle of a learning-rate schedule small.

import { argumentError, HeadlightError } from './errors.ts';
import { quote } from './quote.ts';

export function checkOptions(caller: string, options: unknown, known: readonly string[], parameter = 'options') {
  if (options === null || typeof options !== 'object' || Array.isArray(options))
    throw argumentError(caller, parameter, options, 'an object');
  const names = Object.keys(options);
  for (const name of names) if (!known.includes(name)) throw unknownOption(caller, name, known);
  // A Map or a promise has no own properties, so it would pass as an object without options.
  if (names.length === 0 && !isPlain(options) && Object.prototype.toString.call(options) !== '[object Object]')
    throw argumentError(caller, parameter, options, 'an object');
}

/** Returns true for an object that inherits from no class other than Object. */
function isPlain(value: object) {
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function unknownOption(caller: string, name: string, known: readonly string[]) {
  const text = `${caller}: unknown option ${quote(name)}, expected one of ${known.join(', ')}`;
  return new HeadlightError('ARGUMENT', text, { parameter: name, expected: known, got: name });
}

/** Validates the names of options and returns a copy of those that are not undefined. */
export function readOptions<T extends object>(caller: string, options: T, known: readonly string[]): T {
  checkOptions(caller, options, known);
  const read: Record<string, unknown> = {};
  for (const name of isPlain(options) ? Object.keys(options as object) : known) {
    const value = (options as Record<string, unknown>)[name];
    if (value !== undefined) read[name] = value;
  }
  return read as T;
}

export type NumberRange = { least?: number; most?: number; integer?: boolean };

const ANY_NUMBER: NumberRange = {};

/** Validates a number in the range of float32, or a safe integer. */
export function readNumber(caller: string, parameter: string, value: unknown, range: NumberRange = ANY_NUMBER): number {
  const { least = -Infinity, most = Infinity, integer = false } = range;
  if (
    typeof value === 'number' &&
    value >= least &&
    value <= most &&
    (integer ? Number.isSafeInteger(value) : Number.isFinite(Math.fround(value)))
  )
    return value;
  throw argumentError(caller, parameter, value, describeRange(value, range));
}

function describeRange(value: unknown, { least = -Infinity, most = Infinity, integer = false }: NumberRange) {
  const low = least > -Infinity ? ` of at least ${least}` : '';
  const high = most < Infinity ? ` and at most ${most}` : '';
  const large = !integer && Number.isFinite(value) ? '; float32 ends at 3.4028235e+38' : '';
  return `${integer ? 'an integer' : 'a finite number'}${low}${high}${large}`;
}
