// The result of generate(): a promise of the text that is also an async iterable of the tokens.

import type { Generated, GeneratedToken } from './generateOptions.ts';
import type { TokenStream } from './tokenStream.ts';

/** A promise of the whole result, which is also an async iterable of the tokens. */
export type Generation = Promise<Generated> & AsyncIterable<GeneratedToken>;

/** Makes a promise, of a list for a list of prompts. begin: called after the caller could ask for the iterator. */
export function iterable(begin: (iterates: () => boolean) => Promise<{ stream: TokenStream }>): any {
  let iterates = false;
  const begun = begin(() => iterates);
  const promise = begun.then(({ stream }) => stream.finished);
  const iterator = {
    next: async () => (await begun).stream.next(),
    return: async () => (await begun).stream.return(),
    [Symbol.asyncIterator]: () => iterator,
  };
  const iterate = () => {
    iterates = true;
    // next() reports a failure, so a rejection of the promise itself is ignored.
    promise.catch(() => {});
    return iterator;
  };
  return Object.assign(promise, { [Symbol.asyncIterator]: iterate });
}
