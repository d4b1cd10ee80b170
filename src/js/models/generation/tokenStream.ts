// The tokens of generate() as an async iterator, each computed on demand.

import type { GeneratedToken, GenerateOptions } from './generateOptions.ts';

export class TokenStream implements AsyncIterableIterator<GeneratedToken> {
  finished: Promise<unknown> = Promise.resolve();
  #control = new AbortController();
  /** The token that has been computed and that next() has not returned yet. */
  #token: GeneratedToken | undefined;
  /** #arrived is called when a token has been computed, #taken when the iterator is asked for the next token. */
  #arrived = () => {};
  #taken = () => {};

  wrap(options: GenerateOptions): GenerateOptions {
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

  async next(): Promise<IteratorResult<GeneratedToken, undefined>> {
    this.#taken();
    const arrived = new Promise((resolve) => {
      this.#arrived = () => resolve(undefined);
    });
    if (!this.#token) await Promise.race([arrived, this.finished]);
    const token = this.#token;
    this.#token = undefined;
    return token ? { done: false, value: token } : { done: true, value: undefined };
  }

  /** Ends the generation, because the loop over the tokens has been left. */
  async return(): Promise<IteratorResult<GeneratedToken, undefined>> {
    this.#control.abort();
    this.#taken();
    await this.finished;
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator]() {
    return this;
  }
}
