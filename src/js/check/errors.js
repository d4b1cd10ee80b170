/** @typedef {'SHAPE' | 'ARGUMENT' | 'OUT_OF_MEMORY' | 'DISPOSED' | 'STATE' | 'LOAD' | 'FORMAT'} ErrorCode */

/** Every error that Headlight throws. The instance it came from stays usable and has lost no memory. */
export class HeadlightError extends Error {
  /**
   * @param {ErrorCode} code
   * @param {string} message
   * @param {{ parameter?: string, expected?: unknown, got?: unknown, cause?: unknown }} [details]
   */
  constructor(code, message, { parameter, expected, got, cause } = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'HeadlightError';
    this.code = code;
    /** The parameter that was wrong, as the caller spelled it. */
    this.parameter = parameter;
    this.expected = expected;
    this.got = got;
  }

  /** By name, not by identity: the entries of the package are bundled apart, each with its own copy. @param {unknown} value */
  static [Symbol.hasInstance](value) {
    return value instanceof Error && value.name === 'HeadlightError';
  }
}
