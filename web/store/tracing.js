// The trace of the page: its settings, its requests, and the cells that have been measured so far.

import { signal } from '@preact/signals';
import { startTrace, withCells } from '../features/trace/places.js';
import { ALL } from '../features/trace/settings.js';
import { readOnly } from './readOnly.js';
import { runOf } from './runInput.js';

/** @import { ReadonlySignal } from '@preact/signals' */
/** @import { GridPlace } from '../../src/js/analysis/patchGrid.js' */
/** @import { Pair } from '../features/trace/tasks.js' */
/** @import { TraceCells, TraceRuns, TraceTasks } from './traceProtocol.js' */
/** @import { State } from './state.js' */

/** Everything that a trace depends on, as a key. @param {State} state */
const keyOfTrace = (state) => JSON.stringify([state.model, state.pinned, { ...runOf(state), patch: {} }, state.trace]);

/**
 * @param {object} options
 * @param {import('./requests.js').Requests} options.requests
 * @param {ReadonlySignal<State>} options.state
 * @param {import('./answers.js').Answers} options.answers
 */
export function createTracing({ requests, state, answers }) {
  /** The key of the last request, the model that it was about, and whether its tasks have been asked for. */
  let [asked, model, fitted] = ['', '', false];
  const pointed = signal(/** @type {GridPlace | null} */ (null));
  const paused = signal(false);

  /** @returns {Pair[]} */
  const pairsOf = (/** @type {State} */ { trace: { task } }) =>
    answers.fields.traceTasks.peek()?.tasks.find(({ name }) => name === task)?.pairs ?? [];

  function measure() {
    const now = state.peek();
    // The mean of all pairs needs the pairs first.
    if (!now.pinned || (now.trace.pair === ALL && !answers.fields.traceTasks.peek())) return;
    const key = keyOfTrace(now);
    if (key === asked) return;
    asked = key;
    [pointed.value, paused.value] = [null, false];
    answers.set({ trace: null });
    requests.send({ verb: 'trace', state: now, pairs: pairsOf(now) });
  }

  return {
    /** Asks for what the view shows of a state. @param {State} now */
    follow(now) {
      if (now.model !== model) [asked, model, fitted] = ['', now.model, false];
      if (now.view !== 'trace') return;
      if (!fitted) requests.send({ verb: 'traceTasks', state: now });
      fitted = true;
      measure();
    },
    /** Measures once more, after the worker has ended. */
    again() {
      [asked, fitted] = ['', false];
      this.follow(state.peek());
    },
    parts: {
      traceTasks(/** @type {TraceTasks} */ traceTasks) {
        answers.set({ traceTasks });
        measure();
      },
      traceRuns: (/** @type {TraceRuns} */ runs) => answers.set({ trace: startTrace(runs) }),
      traceCells(/** @type {TraceCells} */ cells) {
        const trace = answers.fields.trace.peek();
        if (trace) answers.set({ trace: withCells(trace, cells) });
      },
    },
    /** The place under the pointer, or walked to by the keyboard. */
    pointed: readOnly(pointed),
    /** The place is measured next, if it is not known. @param {GridPlace | null} place */
    point(place) {
      pointed.value = place;
      if (requests.tracing.peek()) requests.send({ verb: 'traceControl', place });
    },
    paused: readOnly(paused),
    /** @param {boolean} is */
    pause(is) {
      paused.value = is;
      requests.send({ verb: 'traceControl', paused: is });
    },
  };
}
/** @typedef {ReturnType<typeof createTracing>} Tracing */
