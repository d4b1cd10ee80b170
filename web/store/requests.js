// Requests to the worker. Knows the fields of the state that each request depends on, and which answers are awaited.

import { batch, signal } from '@preact/signals';
import { isOpen } from '../features/train/settings.js';
import { createAsk } from '../worker/client.js';
import { readOnly } from './readOnly.js';
import { joinsWords, runOf } from './runInput.js';

/** @import { ReadonlySignal } from '@preact/signals' */
/** @import { ReceivedPart, UnnumberedRequest, Verb } from './protocol.js' */
/** @import { State } from './state.js' */

/** Fields of the state that the answer to `show` does not depend on. */
const NOT_ASKED = new Set([
  'cell',
  'view',
  'versus',
  'colours',
  'mean',
  'panel',
  'step',
  'hide',
  'axes',
  'scope',
  'first',
  'trace',
  'circuit',
  'written',
  'sum',
  'units',
]);

/** Returns a text that identifies everything that the answer to `show` depends on. @param {State} state */
export const keyOfShow = (state) =>
  JSON.stringify([
    state.view === 'compare',
    joinsWords(state),
    Object.entries(state).filter(([name]) => !NOT_ASKED.has(name)),
  ]);

/** Returns a text that identifies everything that the prediction depends on. @param {State} state */
export const keyOfGuess = (state) => JSON.stringify([state.model, state.token, state.pinned, runOf(state)]);

/**
 * Verbs of requests that need only the state.
 * @typedef {'show' | 'ablate' | 'composition' | 'rounding' | 'tokenProbabilities'} VerbOfState
 */

/** Verbs of requests that are cancelled when another model is chosen. @type {Verb[]} */
const ABOUT_MODEL = [
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
  /** @type {Map<Verb, import('@preact/signals').Signal<boolean>>} */
  const byVerb = new Map([
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
    /** @param {Verb} verb @param {boolean} is */
    set(verb, is) {
      const pending = byVerb.get(verb);
      if (pending) pending.value = is;
    },
    clear() {
      for (const pending of byVerb.values()) pending.value = false;
    },
  };
}

/**
 * Creates functions that request what the page displays. None of these functions sends the same request twice in a row.
 * @param {ReadonlySignal<State>} state
 * @param {(verb: VerbOfState) => void} ask
 * @param {(asked: import('./waiting.js').Asked) => void} onShow called before what a state shows is requested
 */
function createDisplayRequests(state, ask, onShow) {
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

/**
 * @param {object} options
 * @param {() => import('../worker/client.js').WorkerLike} options.start
 * @param {ReadonlySignal<State>} options.state
 * @param {import('./waiting.js').Waiting} options.waiting
 * @param {(part: ReceivedPart) => void} options.onPart
 * @param {(error: import('../worker/client.js').RequestError) => void} options.onError
 * @param {() => void} options.onWritten called when the continuation of the text is complete
 * @param {(answered: boolean) => void} options.onEnd called when the worker has died; false if it never answered
 */
export function createRequests({ start, state, waiting, onPart, onError, onWritten, onEnd }) {
  const pending = createPending();
  const progress = signal(/** @type {number | null} */ (null));
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

  /** @param {import('../worker/client.js').RequestError} error */
  function fail(error) {
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
  /** @param {UnnumberedRequest} request */
  function send(request) {
    pending.set(request.verb, true);
    client.ask(request);
  }
  /** Sends a request about the current state. @param {VerbOfState} verb */
  const ask = (verb) => send({ verb, state: state.peek() });
  const display = createDisplayRequests(state, ask, waiting.begin);

  return {
    ...pending.signals,
    /** The share of a model's file that has been read; null while no file is read. */
    progress: readOnly(progress),
    /** @param {number | null} share */
    setProgress(share) {
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
/** @typedef {ReturnType<typeof createRequests>} Requests */
