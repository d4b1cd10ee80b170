// Answers requests about attention weights in the page instead of a worker, because the page already has the weights.

import type { AnswerMessage, Request } from '../model/protocol/protocol.ts';
import { summaryOfWeights, weightsSource } from './sources/programSource.ts';
import { showWeights } from './sources/showWeights.ts';
import type { WeightsSource } from './sources/types.ts';
import type { Reply } from './types.ts';

export function createLocalAnswerer(post: (message: AnswerMessage) => void) {
  let source: WeightsSource | null = null;
  let newest = 0;

  function replyTo({ id, verb }: Request): Reply {
    const isCancelled = () => newest !== id;
    return {
      send: (part, fields) => post({ id, verb, part, ...fields } as unknown as AnswerMessage),
      isCancelled,
      async checkCancelled() {
        await new Promise((resolve) => setTimeout(resolve));
        return isCancelled();
      },
    };
  }

  return async (request: Request) => {
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
      post({ id, verb, error: (error as Error).message });
    }
  };
}
