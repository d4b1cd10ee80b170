// Requests to the worker. Knows the fields of the state that each request depends on, and which answers are awaited.

import { batch, type ReadonlySignal, type Signal, signal } from '@preact/signals';
import { ALL_FIELDS } from '../model/fields.ts';
import type { ReceivedPart, UnnumberedRequest, Verb } from '../model/protocol/protocol.ts';
import type { WorkerLike } from '../model/protocol/workerLike.ts';
import { joinsWords, runOf } from '../model/runInput.ts';
import type { State } from '../model/state.ts';
import { isOpen } from '../model/training/settings.ts';
import { createAsk, type RequestError } from './client.ts';
import { readOnly } from './readOnly.ts';
import type { Asked, Waiting } from './waiting.ts';

/** Returns a text that identifies everything that the answer to `show` depends on. */
export const keyOfShow = (state: State) =>
  JSON.stringify([
    state.view === 'compare',
    joinsWords(state),
    Object.entries(state).filter(([name]) => ALL_FIELDS.get(name)?.rerun !== false),
  ]);

/** Returns a text that identifies everything that the prediction depends on. */
export const keyOfGuess = (state: State) => JSON.stringify([state.model, state.token, state.pinned, runOf(state)]);

/** Verbs of requests that need only the state. */
export type VerbOfState = 'show' | 'ablate' | 'composition' | 'rounding' | 'tokenProbabilities';

/** Verbs of requests that are cancelled when another model is chosen. */
const ABOUT_MODEL: Verb[] = [
  'composition',
  'tokenProbabilities',
  'ablate',
  'generate',
  'chat',
  'rounding',
  'surprise',
  'trace',
  'traceTasks',
  'circuit',
  'circuitCut',
  'scan',
  'storedScan',
  'scannedHead',
  'headCost',
];

/** Creates signals that are true while the answer to a request is awaited. */
function createPending() {
  const [busy, writing, ablating, tracing, cutting] = [0, 1, 2, 3, 4].map(() => signal(false));
  const byVerb: Map<Verb, Signal<boolean>> = new Map([
    ['show', busy],
    ['generate', writing],
    ['ablate', ablating],
    ['trace', tracing],
    ['circuit', cutting],
  ]);
  return {
    signals: {
      /** True while the answer to `show` is incomplete. */
      busy: readOnly(busy),
      writing: readOnly(writing),
      ablating: readOnly(ablating),
      tracing: readOnly(tracing),
      /** True while a circuit is measured. */
      cutting: readOnly(cutting),
    },
    set(verb: Verb, is: boolean) {
      const pending = byVerb.get(verb);
      if (pending) pending.value = is;
    },
    clear() {
      for (const pending of byVerb.values()) pending.value = false;
    },
  };
}

/** Creates requests for what is displayed; none repeats its last. `onShow`: called before a state is requested. */
function createDisplayRequests(
  state: ReadonlySignal<State>,
  ask: (verb: VerbOfState) => void,
  onShow: (asked: Asked) => void,
) {
  /** The texts that identify the last requests of each kind. */
  let [shown, composed] = ['', ''];
  function show() {
    shown = keyOfShow(state.peek());
    onShow({ key: shown, state: state.peek() });
    ask('show');
  }
  return {
    show,
    showIfChanged() {
      if (keyOfShow(state.peek()) !== shown) show();
    },
    /** Makes the next call of `showIfChanged` send a request even if nothing has changed. */
    forgetShown() {
      shown = '';
    },
    /** Requests the composition of heads, if the view shows it as lines. */
    showComposition() {
      const now = state.peek();
      const key = JSON.stringify([now.model, now.layer, now.head]);
      if (now.view !== 'flow' || key === composed || isOpen(now)) return;
      composed = key;
      ask('composition');
    },
    forgetComposition() {
      composed = '';
    },
  };
}

export function createRequests({
  start,
  state,
  waiting,
  onPart,
  onError,
  onWritten,
  onEnd,
}: {
  start: () => WorkerLike;
  state: ReadonlySignal<State>;
  waiting: Waiting;
  onPart: (part: ReceivedPart) => void;
  onError: (error: RequestError) => void;
  /** called when the continuation of the text is complete */
  onWritten: () => void;
  /** called when the worker has died; false if it never answered */
  onEnd: (answered: boolean) => void;
}) {
  const pending = createPending();
  const progress = signal(null as number | null);
  let answered = false;

  const client = createAsk(
    {
      onPart: (part) => batch(() => onPart(part)),
      onDone(verb) {
        answered = true;
        pending.set(verb, false);
        if (verb === 'show') waiting.end();
        if (verb === 'generate') onWritten();
      },
      onError: (error) => batch(() => fail(error)),
      onEnd: () => batch(end),
    },
    start,
  );

  function fail(error: RequestError) {
    pending.set(error.verb, false);
    onError(error);
  }
  function end() {
    pending.clear();
    waiting.end();
    progress.value = null;
    const before = answered;
    answered = false;
    onEnd(before);
  }
  function send(request: UnnumberedRequest) {
    pending.set(request.verb, true);
    client.ask(request);
  }
  const ask = (verb: VerbOfState) => send({ verb, state: state.peek() });
  const display = createDisplayRequests(state, ask, waiting.begin);

  return {
    ...pending.signals,
    /** The share of a model's file that has been read; null while no file is read. */
    progress: readOnly(progress),
    setProgress(share: number | null) {
      progress.value = share;
    },
    ask,
    send,
    cancel: client.cancel,
    show: display.show,
    showIfChanged: display.showIfChanged,
    forgetShown: display.forgetShown,
    showComposition: display.showComposition,
    /** Cancels the open requests about the previous model, because another model was chosen. */
    leaveModel() {
      progress.value = null;
      display.forgetComposition();
      for (const verb of ABOUT_MODEL) client.cancel(verb);
    },
    restart: client.restart,
    stop: client.stop,
  };
}
export type Requests = ReturnType<typeof createRequests>;
