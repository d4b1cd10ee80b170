// Reads and validates tokenizer.ggml.* in the metadata of a GGUF file.

import { Fields, fieldError } from '../fields.ts';
import { MAX_WORD_EXPECTED, MAX_WORD_LENGTH } from '../trie.ts';
import { PRE_TOKENIZERS } from './ggufPatterns.ts';

const PREFIX = 'tokenizer.ggml';
/** Maximum items of a list, as in a tokenizer.json. */
const MAX_ITEMS = 2 ** 20;

export class GgufMetadata {
  declare tokens: string[];
  declare ids: Map<string, number>;
  declare types: ArrayLike<number>;

  #fields: Fields;

  constructor(fields: Fields) {
    this.#fields = fields;
    this.tokens = this.#readTokens();
    this.ids = new Map();
    for (const [id, token] of this.tokens.entries()) {
      if (this.ids.has(token)) throw this.#itemError('tokens', id, token, 'a token that is in the list only once');
      // A token without a text marks an unused id.
      if (token) this.ids.set(token, id);
    }
    this.types = this.numbers('token_type', Number.isSafeInteger, 'an integer') ?? new Uint8Array(this.tokens.length);
  }

  #key(name: string) {
    return `${PREFIX}.${name}`;
  }

  #itemError(name: string, i: number, got: unknown, expected: string) {
    return fieldError(`${this.#key(name)}[${i}]`, got, expected);
  }

  error(name: string, expected: string) {
    return this.#fields.error(this.#key(name), expected);
  }

  /** Returns a list or a typed array, or null if it is missing. */
  #list(name: string): ArrayLike<unknown> | null {
    const list = this.#fields.get(this.#key(name));
    if (list === null) return null;
    if (!Array.isArray(list) && (!ArrayBuffer.isView(list) || list instanceof DataView))
      throw this.error(name, 'a list');
    const items = list as unknown as ArrayLike<unknown>;
    if (items.length > MAX_ITEMS) throw this.error(name, `at most ${MAX_ITEMS} items`);
    return items;
  }

  #readTokens() {
    const list = this.#list('tokens');
    if (!list || list.length === 0) throw this.error('tokens', 'a list of tokens');
    return this.#strings('tokens', list, MAX_WORD_EXPECTED, (token) => token.length <= MAX_WORD_LENGTH);
  }

  #strings(name: string, list: ArrayLike<unknown>, expected: string, accepts: (text: string) => boolean) {
    return Array.from(list, (text, i) => {
      if (typeof text !== 'string' || !accepts(text)) throw this.#itemError(name, i, text, expected);
      return text;
    });
  }

  /** Returns a list with a number for each token, or null if the list is missing. */
  numbers(name: string, accepts: (value: unknown) => boolean, expected: string): ArrayLike<number> | null {
    const list = this.#list(name);
    if (!list) return null;
    if (list.length < this.tokens.length) throw this.error(name, `${this.tokens.length} numbers, one for each token`);
    for (let i = 0; i < list.length; i++) if (!accepts(list[i])) throw this.#itemError(name, i, list[i], expected);
    return list as ArrayLike<number>;
  }

  scores() {
    const scores = this.numbers('scores', Number.isFinite, 'a finite number');
    if (!scores) throw this.error('scores', 'a list of numbers');
    return scores;
  }

  /** Returns the pairs to merge, such as 'a b'. */
  merges() {
    const list = this.#list('merges');
    if (!list) throw this.error('merges', 'a list of pairs');
    return Array.from(list);
  }

  flag(name: string, fallback: boolean) {
    return this.#fields.boolean(this.#key(name), fallback);
  }

  /** Returns the pre-tokenizer and its name. */
  preTokenizer() {
    const name = this.#fields.string(this.#key('pre'), 'default');
    const found = PRE_TOKENIZERS.get(name);
    if (!found) throw this.error('pre', `a pre-tokenizer that is supported: ${[...PRE_TOKENIZERS.keys()].join(', ')}`);
    return { name, ...found };
  }

  /** fallback: if the entry is missing; returns null if there is no such token */
  special(name: string, fallback: number | null = null): number | null {
    const most = this.tokens.length - 1;
    if (this.#fields.get(this.#key(`${name}_token_id`)) !== null)
      return this.#fields.integer(this.#key(`${name}_token_id`), { most });
    return fallback !== null && fallback <= most ? fallback : null;
  }

  /** Returns the bytes of SentencePiece's normalizer, or null if there is none. */
  charsmap() {
    const list = this.#list('precompiled_charsmap');
    if (!list || list.length === 0) return null;
    const bytes = new Uint8Array(list.length);
    for (let i = 0; i < list.length; i++) {
      const value = list[i];
      if (!Number.isSafeInteger(value) || Number(value) < -128 || Number(value) > 255)
        throw this.#itemError('precompiled_charsmap', i, value, 'a byte');
      bytes[i] = Number(value);
    }
    return bytes;
  }

  /** Returns true if the name of the model contains a text. */
  isNamed(text: string) {
    const name = this.#fields.get('general.name');
    return typeof name === 'string' && name.toLowerCase().includes(text);
  }

  /** Wraps values as Fields, whose paths in errors begin with the prefix of this metadata. */
  fields(values: Record<string, unknown>) {
    return new Fields(values, PREFIX);
  }
}
