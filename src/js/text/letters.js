// The tokenizer of a speech model whose tokens are letters, from its vocab.json. The model predicts a letter for each
// frame, and a blank separates equal letters.

import { HeadlightError } from '../check/errors.js';

/** @import { Encoding } from './processors.js' */

/**
 * ids: ids by letter; blank: id of the blank; delimiter: letter between words; unknown: letter for all other
 * characters; upper: true if the letters are upper case.
 * @typedef {{ ids: Map<string, number>, blank: number, delimiter: string, unknown?: string, upper: boolean }}
 *   LetterParts
 */

export class Letters {
  #ids;
  #letters;
  #delimiter;
  #unknown;
  #upper;

  /** @param {LetterParts} parts */
  constructor({ ids, blank, delimiter, unknown, upper }) {
    this.#ids = ids;
    this.#letters = new Map([...ids].map(([letter, id]) => [id, letter]));
    /** The id of the blank. */
    this.blank = blank;
    this.#delimiter = delimiter;
    this.#unknown = unknown;
    this.#upper = upper;
  }

  /** @param {string} token @returns {number | undefined} */
  idOf(token) {
    return this.#ids.get(token);
  }

  /** @param {number} id @returns {string | undefined} */
  tokenOf(id) {
    return this.#letters.get(id);
  }

  /** @param {string} text @returns {Encoding} */
  encode(text) {
    const offsets = [...text].map((letter, i, all) => {
      const start = all.slice(0, i).join('').length;
      return /** @type {[number, number]} */ ([start, start + letter.length]);
    });
    const tokens = [...(this.#upper ? text.toUpperCase() : text)].map((letter) => {
      const own = letter === ' ' ? this.#delimiter : letter;
      if (this.#ids.has(own)) return own;
      if (this.#unknown !== undefined) return this.#unknown;
      throw new HeadlightError('ARGUMENT', `encode: this model has no letter ${JSON.stringify(letter)}`, {
        parameter: 'text',
        got: letter,
      });
    });
    const ids = tokens.map((token) => /** @type {number} */ (this.#ids.get(token)));
    return { ids, tokens, offsets, typeIds: ids.map(() => 0) };
  }

  /** Returns the text of letters, without blanks. @param {readonly number[]} ids */
  decode(ids) {
    const letters = ids.map((id) => (id === this.blank ? '' : (this.#letters.get(id) ?? '')));
    const text = letters.map((letter) => (letter === this.#delimiter ? ' ' : letter)).join('');
    return this.#upper ? text.toLowerCase() : text;
  }
}
