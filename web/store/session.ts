// The interface for components: read-only signals, and the only actions that change them.

import { computed } from '@preact/signals';
import { isOfHub } from '../model/state.ts';
import { createCell } from './cell.ts';
import { compose } from './compose.ts';
import type { SessionOptions } from './sessionOptions.ts';

export function createSession(options: SessionOptions) {
  const parts = compose(options);
  const {
    ui,
    preferences,
    answers,
    document,
    requests,
    opening,
    training,
    atlas,
    tracing,
    circuit,
    chat,
    continuation,
  } = parts;
  const { program, failures, surprise, waiting } = parts;
  const { state } = document;
  const { words } = preferences;
  // After a change of the state the first visit is no longer news.
  const stopForgetting = document.state.subscribe(() => ui.setClosing(null));

  program.send();
  parts.showAgain();
  requests.showComposition();
  tracing.follow(document.state.peek());
  circuit.follow(document.state.peek());
  surprise.follow(document.state.peek());
  options.first?.then(parts.receiver.showStored);

  return {
    embedded: options.embedded === true,
    /** Models of the menu whose files are available. */
    models: options.models ?? [],
    ...ui,
    ...answers.fields,
    cell: createCell({ run: answers.fields.run, hover: ui.hover, state }),
    training,
    atlas,
    circuit,
    surprise,
    opening,

    state,
    canUndo: document.canUndo,
    update: document.update,
    look: document.look,
    endGesture: document.endGesture,
    open: document.open,
    address: document.address,
    undo() {
      document.undo();
      ui.announce(words.peek().undone);
    },
    redo() {
      document.redo();
      ui.announce(words.peek().redone);
    },

    busy: requests.busy,
    progress: requests.progress,
    /** True while the first answer about a model is awaited. */
    loading: computed(() => requests.busy.value && answers.fields.run.value === null),
    /** True if another run can be shown in place of the one that is awaited. */
    canStop: computed(() => answers.fields.run.value !== null || answers.hasPrevious()),
    writing: requests.writing,
    readChat: chat.read,
    writeChat: chat.write,
    write: continuation.write,
    stopWriting: () => requests.cancel('generate'),
    tracing: requests.tracing,
    tracedPlace: tracing.pointed,
    pointTrace: tracing.point,
    tracePaused: tracing.paused,
    pauseTrace: tracing.pause,
    traceAgain: () => tracing.again(),
    ablating: requests.ablating,
    /** Requests the probability of the prediction without each head in turn. */
    runAblation() {
      answers.set({ ablation: null });
      requests.ask('ablate');
    },
    stopAblation: () => requests.cancel('ablate'),
    compareWeights: () => requests.ask('rounding'),
    stopComparing() {
      requests.cancel('rounding');
      answers.set({ rounding: null });
    },
    requestTokenProbabilities: () => requests.ask('tokenProbabilities'),
    showProgramModel: program.replace,
    transposeWeights: program.transpose,

    ...waiting.actions,
    ...failures.actions,
    /** True if leaving the page would lose opened files or an unsaved training. */
    losesWork: computed(() => opening.opened.value.some(({ about }) => !isOfHub(about.name)) || training.unsaved.value),

    ...preferences,
    stop() {
      stopForgetting();
      preferences.stop();
      waiting.end();
      requests.stop();
    },
  };
}
export type Session = ReturnType<typeof createSession> & { addStyles: (text: string) => void };
