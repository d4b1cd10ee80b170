// Handlers for the parts of the worker's answers.

import { batch } from '@preact/signals';
import type { About, PartListeners, ReceivedPart } from '../model/protocol/protocol.ts';
import { initialState } from '../model/state.ts';
import { isOpen } from '../model/training/settings.ts';
import type { Answers } from './answers.ts';
import type { Chat } from './chat.ts';
import type { Continuation } from './continuation.ts';
import type { Document } from './document.ts';
import type { Failures } from './failures.ts';
import { unfoldAnswer } from './firstAnswer.ts';
import type { AtlasStore } from './measured/atlas.ts';
import type { CircuitStore } from './measured/circuit.ts';
import type { Surprise } from './measured/surprise.ts';
import type { Tracing } from './measured/tracing.ts';
import type { Opening } from './opening/openModels.ts';
import { keyOfShow, type Requests } from './requests.ts';
import type { Training } from './training/training.ts';
import type { Waiting } from './waiting.ts';

/** @param refuses see SessionOptions */
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
  }: {
    document: Document;
    answers: Answers;
    requests: Requests;
    failures: Failures;
    waiting: Waiting;
    opening: Opening;
    training: Training;
    atlas: AtlasStore;
    continuation: Continuation;
    tracing: Tracing;
    circuit: CircuitStore;
    surprise: Surprise;
    chat: Chat;
  },
  refuses: (about: About) => string | null = () => null,
) {
  const { state } = document;
  const firstText = state.peek().text;

  const handlers: PartListeners = {
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
  const handle = (part: ReceivedPart) => (handlers[part.part] as (part: ReceivedPart) => void)(part);

  return {
    receive(part: ReceivedPart) {
      if (answers.isAbout(part.of)) handle(part);
    },
    showStored(file: string) {
      if (answers.fields.run.peek() || keyOfShow(state.peek()) !== keyOfShow(initialState)) return;
      const parts = unfoldAnswer(file) as ReceivedPart[];
      const failure = failures.actions.failure.peek();
      batch(() => {
        for (const part of parts) if (part.part !== 'source' || !answers.fields.about.peek()) handle(part);
        failures.actions.fail(failure);
      });
    },
  };
}
