// Validates words, names and shapes. Each value is read only once, because a getter may return another value next time.

import { argumentError, HeadlightError } from './errors.ts';
import { quoteNames } from './quote.ts';
import { MAX_AXES, MAX_SIZE } from './shape.ts';

export type { NumberRange } from './options.ts';
export { checkOptions, readNumber, readOptions } from './options.ts';

export function readBoolean(caller: string, parameter: string, value: unknown): boolean {
  if (typeof value !== 'boolean') throw argumentError(caller, parameter, value, 'true or false');
  return value;
}

export function readWord<T extends string>(caller: string, parameter: string, value: unknown, words: readonly T[]): T {
  const word = words.find((known) => known === value);
  if (word === undefined) throw argumentError(caller, parameter, value, quoteWords(words));
  return word;
}

function quoteWords(words: readonly string[]) {
  const quoted = words.map((word) => `'${word}'`);
  return quoted.length < 2 ? quoted.join('') : `${quoted.slice(0, -1).join(', ')} or ${quoted[quoted.length - 1]}`;
}

/** Validates an AbortSignal, which may be of another realm. */
export function readSignal(caller: string, value: unknown): AbortSignal | undefined {
  if (value === undefined) return undefined;
  const { aborted, throwIfAborted, addEventListener } = (value ?? {}) as Partial<AbortSignal>;
  if (typeof aborted === 'boolean' && typeof throwIfAborted === 'function' && typeof addEventListener === 'function')
    return value as AbortSignal;
  throw argumentError(caller, 'signal', value, 'an AbortSignal');
}

/** Returns the values of an object by name, for example of a state dictionary. */
export function readRecord(caller: string, parameter: string, record: unknown, expected: string): Map<string, unknown> {
  if (record === null || typeof record !== 'object' || Array.isArray(record) || ArrayBuffer.isView(record))
    throw argumentError(caller, parameter, record, expected);
  return new Map(Object.entries(record));
}

export function checkNames(caller: string, got: readonly string[], expected: readonly string[], hint = '') {
  const [has, wanted] = [new Set(got), new Set(expected)];
  const missing = expected.filter((name) => !has.has(name));
  const unexpected = got.filter((name) => !wanted.has(name));
  const parts = [
    missing.length > 0 && `missing ${quoteNames(missing)}`,
    unexpected.length > 0 && `unexpected ${quoteNames(unexpected)}`,
  ].filter(Boolean);
  if (parts.length === 0) return;
  const details = { parameter: missing[0] ?? unexpected[0], expected, got };
  throw new HeadlightError('ARGUMENT', `${caller}: ${parts.join('; ')}${hint}`, details);
}

export function readShape(shape: unknown, caller: string, parameter: string): number[] {
  if (!Array.isArray(shape)) throw argumentError(caller, parameter, shape, 'an array of non-negative integers');
  if (shape.length > MAX_AXES) throw argumentError(caller, parameter, shape, `at most ${MAX_AXES} sizes`);
  const sizes = [...shape];
  let others = 1;
  let empty = false;
  for (const n of sizes) {
    if (!Number.isSafeInteger(n) || n < 0)
      throw argumentError(caller, parameter, shape, 'an array of non-negative integers');
    if (n === 0) empty = true;
    else others *= n;
  }
  // A tensor with an axis of size 0 needs no memory, so the allocation does not limit its other sizes. This check does.
  if (empty && (others > Number.MAX_SAFE_INTEGER || sizes.some((n) => n > MAX_SIZE)))
    throw argumentError(caller, parameter, sizes, `sizes of at most ${MAX_SIZE}, and a product of at most 2^53`);
  return sizes;
}
