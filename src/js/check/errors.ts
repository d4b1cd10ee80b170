// HeadlightError, the only error class of the module, and functions that create its messages.

import { cut, formatShape, quote } from './quote.ts';

export type ErrorCode = 'SHAPE' | 'ARGUMENT' | 'OUT_OF_MEMORY' | 'DISPOSED' | 'STATE' | 'LOAD' | 'FORMAT';

/** Maximum characters of a path or URL in a message, and of the system's reason. */
const MAX_NAME = 200;
const MAX_REASON = 400;

/** The class of every error that Headlight throws. After an error the instance stays usable and no memory leaks. */
export class HeadlightError extends Error {
  declare name: string;
  declare code: ErrorCode;
  declare parameter: string | undefined;
  declare expected: unknown | undefined;
  declare got: unknown | undefined;

  constructor(
    code: ErrorCode,
    message: string,
    {
      parameter,
      expected,
      got,
      cause,
    }: { parameter?: string; expected?: unknown; got?: unknown; cause?: unknown } = {},
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'HeadlightError';
    this.code = code;
    this.parameter = parameter;
    this.expected = expected;
    this.got = got;
  }

  /** Compares names, because the entries of the package are bundled separately, each with its own copy of the class. */
  static [Symbol.hasInstance](value: unknown) {
    return value instanceof Error && value.name === 'HeadlightError';
  }
}

export function shapeError(caller: string, parameter: string, got: readonly number[], expected: string) {
  return new HeadlightError('SHAPE', `${caller}: ${parameter} has shape ${formatShape(got)}, expected ${expected}`, {
    parameter,
    expected,
    got: [...got],
  });
}

export function argumentError(caller: string, parameter: string, got: unknown, expected: string) {
  return new HeadlightError('ARGUMENT', `${caller}: ${parameter} is ${quote(got)}, expected ${expected}`, {
    parameter,
    expected,
    got,
  });
}

/** name: of the file or folder; cause: an error or a string */
export function unreadable(
  caller: string,
  name: string,
  cause: unknown,
  details?: { expected?: unknown; got?: unknown },
) {
  const reason = cause instanceof Error ? cause.message : String(cause);
  const text = `${caller}: ${cut(name, MAX_NAME)} cannot be read: ${cut(reason, MAX_REASON)}`;
  return new HeadlightError('LOAD', text, { parameter: 'files', ...details, cause });
}
