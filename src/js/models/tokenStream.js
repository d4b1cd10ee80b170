// The tokens of generate() as an async iterator. The next token is computed when the iterator is asked for it.

/** @import { GeneratedToken, GenerateOptions } from './generateOptions.js' */

/** @implements {AsyncIterableIterator<GeneratedToken>} */
export class TokenStream {
  /** The promise of the result. @type {Promise<unknown>} */
  finished = Promise.resolve();
  #control = new AbortController();
  /** The token that has been computed and that next() has not returned yet. @type {GeneratedToken | undefined} */
  #token;
  /** #arrived is called when a token has been computed, #taken when the iterator is asked for the next token. */
  #arrived = () => {};
  #taken = () => {};

  /** @param {GenerateOptions} options @returns {GenerateOptions} */
  wrap(options) {
    const { onToken, signal } = options ?? {};
    const isValid =
      options && ['function', 'undefined'].includes(typeof onToken) && (!signal || signal.addEventListener);
    // generate() refuses other values.
    if (!isValid) return options;
    if (signal?.aborted) this.#control.abort();
    signal?.addEventListener('abort', () => this.#control.abort(), { once: true });
    return {
      ...options,
      signal: this.#control.signal,
      onToken: async (token, index) => {
        await onToken?.(token, index);
        if (this.#control.signal.aborted) return;
        this.#token = token;
        this.#arrived();
        await new Promise((resolve) => {
          this.#taken = () => resolve(undefined);
        });
      },
    };
  }

  /** @returns {Promise<IteratorResult<GeneratedToken, undefined>>} */
  async next() {
    this.#taken();
    const arrived = new Promise((resolve) => {
      this.#arrived = () => resolve(undefined);
    });
    if (!this.#token) await Promise.race([arrived, this.finished]);
    const token = this.#token;
    this.#token = undefined;
    return token ? { done: false, value: token } : { done: true, value: undefined };
  }

  /**
   * Ends the generation, because the loop over the tokens has been left.
   * @returns {Promise<IteratorResult<GeneratedToken, undefined>>}
   */
  async return() {
    this.#control.abort();
    this.#taken();
    await this.finished;
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator]() {
    return this;
  }
}
