// A reason why files cannot be shown, as a code and its values: the page has a text for each code in every language.

/** @import { ProblemValue } from '../../store/protocol.js' */

export class Problem extends Error {
  /** @param {string} code a name in the page's texts of problems @param {...ProblemValue} values */
  constructor(code, ...values) {
    super(`${code}: ${values.join(', ')}`);
    this.code = code;
    this.values = values;
  }
}
