// Answers requests about attention weights in the page instead of a worker, because the page already has the weights.

import { summaryOfWeights, weightsSource } from './sources/programSource.js';
import { showWeights } from './sources/showWeights.js';

/** @import { AnswerMessage, Request } from '../store/protocol.js' */
/** @import { WeightsSource } from './sources/types.js' */
/** @import { Reply } from './types.js' */

/** @param {(message: AnswerMessage) => void} post */
export function createLocalAnswerer(post) {
  /** @type {WeightsSource | null} */
  let source = null;
  let newest = 0;

  /** @param {Request} request @returns {Reply} */
  function replyTo({ id, verb }) {
    const isCancelled = () => newest !== id;
    return {
      send: (part, fields) =>
        post(/** @type {AnswerMessage} */ (/** @type {unknown} */ ({ id, verb, part, ...fields }))),
      isCancelled,
      async checkCancelled() {
        await new Promise((resolve) => setTimeout(resolve));
        return isCancelled();
      },
    };
  }

  return async (/** @type {Request} */ request) => {
    const { id, verb } = request;
    newest = id;
    const reply = replyTo(request);
    try {
      if (verb === 'openInput' && request.input.kind === 'weights') {
        source = weightsSource(request.name, request.input);
        reply.send('inputOpened', { about: source.about, summary: summaryOfWeights(source, request.input) });
      } else if (verb === 'nameTokens' && source) {
        source.tokens = request.tokens;
        reply.send('changed', {});
      } else if (verb === 'show' && source) await showWeights(source, request.state, reply);
      post({ id, verb, done: true });
    } catch (error) {
      post({ id, verb, error: /** @type {Error} */ (error).message });
    }
  };
}
