// Functions that all readers of files use: bytes of an argument, format errors, allocation, shapes.

import { HeadlightError } from '../check/errors.ts';
import { quote } from '../check/quote.ts';
import { MAX_AXES } from '../check/shape.ts';

export const formatError = (
  caller: string,
  message: string,
  details?: { parameter?: string; expected?: unknown; got?: unknown },
) => new HeadlightError('FORMAT', `${caller}: ${message}`, details);

/**
 * A view of the bytes of an argument. Recognizes buffers by their tag, not by instanceof, to accept those of another
 * realm.
 */
export function readBytes(caller: string, source: unknown): Uint8Array {
  try {
    if (ArrayBuffer.isView(source)) return new Uint8Array(source.buffer, source.byteOffset, source.byteLength);
    if (/^\[object (Shared)?ArrayBuffer\]$/.test(Object.prototype.toString.call(source)))
      return new Uint8Array(source as ArrayBuffer);
  } catch {
    throw formatError(
      caller,
      'the buffer of the file is detached: it was transferred, or the memory that it views has grown',
      {
        parameter: 'bytes',
      },
    );
  }
  throw formatError(
    caller,
    `bytes is ${quote(source)}, expected the bytes of a file as an ArrayBuffer or a typed array`,
    { parameter: 'bytes', expected: 'an ArrayBuffer or a typed array', got: source },
  );
}

/** Calls `make` and reports a failed allocation as an OUT_OF_MEMORY error. */
export function allocate<T>(caller: string, bytes: number, make: () => T): T {
  try {
    return make();
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new HeadlightError('OUT_OF_MEMORY', `${caller}: out of memory: cannot allocate an array of ${bytes} bytes`, {
      got: bytes,
    });
  }
}

/** Returns the number of elements. It is 0 if any axis is 0, even if the product of the other axes is Infinity. */
export const countElements = (shape: readonly number[]) => (shape.includes(0) ? 0 : shape.reduce((a, b) => a * b, 1));

export const isShape = (shape: unknown): shape is number[] =>
  Array.isArray(shape) &&
  shape.length <= MAX_AXES &&
  shape.every((n) => Number.isSafeInteger(n) && n >= 0) &&
  Number.isSafeInteger(countElements(shape));

export const A_SHAPE = `at most ${MAX_AXES} non-negative integers`;
