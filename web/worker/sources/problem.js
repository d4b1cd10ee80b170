// The error for files that cannot be shown, and for requests that fail. From the code and the values of the error, the
// page makes a text in the page's language.

/** @import { ProblemValue } from '../../store/protocol.js' */

export class Problem extends Error {
  /** @param {string} code a name in the page's texts of problems @param {...ProblemValue} values */
  constructor(code, ...values) {
    super(`${code}: ${values.join(', ')}`);
    this.code = code;
    this.values = values;
  }
}
