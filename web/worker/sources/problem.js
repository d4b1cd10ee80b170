// The error for files or requests that cannot be shown. It has a code and values, from which the page makes a text in
// each language.

/** @import { ProblemValue } from '../../store/protocol.js' */

export class Problem extends Error {
  /** @param {string} code a name in the page's texts of problems @param {...ProblemValue} values */
  constructor(code, ...values) {
    super(`${code}: ${values.join(', ')}`);
    this.code = code;
    this.values = values;
  }
}
