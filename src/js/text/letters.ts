// The tokenizer of a speech model whose tokens are letters, from vocab.json. The model predicts a letter for each
// frame, and a blank separates equal letters.

import { HeadlightError } from '../check/errors.ts';

import type { Encoding } from './processors.ts';

/**
 * ids: by letter; blank: its id; delimiter: between words; unknown: for all other characters; upper: letters are upper
 * case.
 */
export type LetterParts = {
  ids: Map<string, number>;
  blank: number;
  delimiter: string;
  unknown?: string;
  upper: boolean;
};

export class Letters {
  /** The id of the blank. */
  declare blank: number;

  #ids: Map<string, number>;
  #letters: Map<number, string>;
  #delimiter: string;
  #unknown: string | undefined;
  #upper: boolean;

  constructor({ ids, blank, delimiter, unknown, upper }: LetterParts) {
    this.#ids = ids;
    this.#letters = new Map([...ids].map(([letter, id]) => [id, letter]));
    this.blank = blank;
    this.#delimiter = delimiter;
    this.#unknown = unknown;
    this.#upper = upper;
  }

  idOf(token: string): number | undefined {
    return this.#ids.get(token);
  }

  tokenOf(id: number): string | undefined {
    return this.#letters.get(id);
  }

  encode(text: string): Encoding {
    const offsets = [...text].map((letter, i, all) => {
      const start = all.slice(0, i).join('').length;
      return [start, start + letter.length] as [number, number];
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
    const ids = tokens.map((token) => this.#ids.get(token) as number);
    return { ids, tokens, offsets, typeIds: ids.map(() => 0) };
  }

  /** Returns the text of letters, without blanks. */
  decode(ids: readonly number[]) {
    const letters = ids.map((id) => (id === this.blank ? '' : (this.#letters.get(id) ?? '')));
    const text = letters.map((letter) => (letter === this.#delimiter ? ' ' : letter)).join('');
    return this.#upper ? text.toLowerCase() : text;
  }
}
