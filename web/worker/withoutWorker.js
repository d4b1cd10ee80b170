// Answers where the question is asked: weights that are at hand need no worker.

import { toldOf, weightsSource } from './sources/programSource.js';
import { showWeights } from './sources/showWeights.js';

/** @param {(message: object, transfer?: ArrayBuffer[]) => void} post */
export function createHere(post) {
  /** @type {import('./sources/sources.js').Source | null} */
  let source = null;
  let newest = 0;
  return async (/** @type {any} */ { id, verb, state, name, given, tokens }) => {
    newest = id;
    const say = (/** @type {string} */ part, /** @type {object} */ fields) => post({ id, verb, part, ...fields });
    const stale = async () => {
      await new Promise((resolve) => setTimeout(resolve));
      return newest !== id;
    };
    try {
      if (verb === 'give') {
        source = weightsSource(name, given);
        say('given', { about: source.about, told: toldOf(source, given) });
      } else if (verb === 'name' && source) {
        source.tokens = tokens;
        say('named', {});
      } else if (verb === 'show' && source) await showWeights(source, state, { say, stale });
      post({ id, verb, done: true });
    } catch (error) {
      post({ id, verb, error: /** @type {Error} */ (error).message });
    }
  };
}
