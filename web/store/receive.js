// Handlers for the parts of the worker's answers.

import { batch } from '@preact/signals';
import { isOpen } from '../features/train/settings.js';
import { unfoldAnswer } from './firstAnswer.js';
import { keyOfShow } from './requests.js';
import { initialState } from './state.js';

/** @import { About, PartListeners, ReceivedPart } from './protocol.js' */

/**
 * @param {object} store
 * @param {import('./document.js').Document} store.document
 * @param {import('./answers.js').Answers} store.answers
 * @param {import('./requests.js').Requests} store.requests
 * @param {import('./failures.js').Failures} store.failures
 * @param {import('./waiting.js').Waiting} store.waiting
 * @param {import('./openModels.js').Opening} store.opening
 * @param {import('./training.js').Training} store.training
 * @param {import('./atlas.js').AtlasStore} store.atlas
 * @param {import('./continuation.js').Continuation} store.continuation
 * @param {import('./tracing.js').Tracing} store.tracing
 * @param {import('./circuit.js').CircuitStore} store.circuit
 * @param {import('./surprise.js').Surprise} store.surprise
 * @param {import('./chat.js').Chat} store.chat
 * @param {((about: About) => string | null)} [refuses] see MountOptions
 */
export function createReceiver(
  {
    document,
    answers,
    requests,
    failures,
    waiting,
    opening,
    training,
    atlas,
    continuation,
    tracing,
    circuit,
    surprise,
    chat,
  },
  refuses = () => null,
) {
  const { state } = document;
  const firstText = state.peek().text;

  /** @type {PartListeners} */
  const handlers = {
    ...training.parts,
    ...atlas.parts,
    ...opening.parts,
    ...tracing.parts,
    ...surprise.parts,
    progress: ({ read, total }) => requests.setProgress(total ? Math.min(read / total, 1) : null),
    computing: waiting.progress,
    source({ about }) {
      requests.setProgress(null);
      const wrong = refuses(about);
      if (wrong) {
        requests.cancel('show');
        return failures.actions.fail(wrong);
      }
      answers.announce(about);
      document.clampHead(about);
    },
    run(part) {
      // Training was opened or left before this part arrived.
      if (isOpen(state.peek()) !== (part.verb === 'train')) return;
      answers.setRun(part, waiting.actions.isLate.peek());
      if (part.verb === 'show') waiting.arrive();
      failures.actions.fail(null);
    },
    pooled: ({ layer, head, data, rows, columns }) => answers.addPooled(layer, head, { data, rows, columns }),
    comparison: (comparison) => answers.set({ comparison }),
    chat: chat.receive,
    similarity: ({ similarity }) => answers.set({ similarity }),
    ranking: (ranking) => answers.set({ ranking }),
    turned: (turned) => answers.set({ turned }),
    pinnedHead: (pinnedHead) => answers.set({ pinnedHead }),
    roles: answers.setRoles,
    tokenProbabilities: (tokenProbabilities) => answers.set({ tokenProbabilities }),
    circuit: circuit.receive,
    rounding: ({ rounding }) => answers.set({ rounding }),
    composition: (composition) => answers.set({ composition }),
    ablation: (ablation) => answers.set({ ablation }),
    generated: continuation.receive,
    inputOpened: ({ about, summary }) => opening.addFromProgram(about, summary, firstText !== initialState.text),
  };
  const handle = (/** @type {ReceivedPart} */ part) =>
    /** @type {(part: ReceivedPart) => void} */ (handlers[part.part])(part);

  return {
    /** @param {ReceivedPart} part */
    receive(part) {
      if (answers.isAbout(part.of)) handle(part);
    },
    /**
     * Shows an answer from a file until the worker's first answer arrives. A failure of the worker stays visible.
     * @param {string} file
     */
    showStored(file) {
      if (answers.fields.run.peek() || keyOfShow(state.peek()) !== keyOfShow(initialState)) return;
      const parts = /** @type {ReceivedPart[]} */ (unfoldAnswer(file));
      const failure = failures.actions.failure.peek();
      batch(() => {
        for (const part of parts) if (part.part !== 'source' || !answers.fields.about.peek()) handle(part);
        failures.actions.fail(failure);
      });
    },
  };
}
