// What keeps files from being shown, as a code and its values: how it is said is a matter of language.

export class Problem extends Error {
  /** @param {string} code of the strings' problems @param {...(string | number)} values */
  constructor(code, ...values) {
    super(`${code}: ${values.join(', ')}`);
    this.code = code;
    this.values = values;
  }
}
