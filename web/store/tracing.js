// Requests the trace that the page shows, and holds the cells that have been measured so far.

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

/** Returns a text that identifies everything that a trace depends on. @param {State} state */
const keyOfTrace = (state) => JSON.stringify([state.model, state.pinned, { ...runOf(state), patch: {} }, state.trace]);

/**
 * @param {object} options
 * @param {import('./requests.js').Requests} options.requests
 * @param {ReadonlySignal<State>} options.state
 * @param {import('./answers.js').Answers} options.answers
 */
export function createTracing({ requests, state, answers }) {
  /** A text that identifies the last request; the model; true once the tasks that fit the model were requested. */
  let [asked, model, fitted] = ['', '', false];
  const pointed = signal(/** @type {GridPlace | null} */ (null));
  const paused = signal(false);

  /** @returns {Pair[]} */
  const pairsOf = (/** @type {State} */ { trace: { task } }) =>
    answers.fields.traceTasks.peek()?.tasks.find(({ name }) => name === task)?.pairs ?? [];

  function measure() {
    const now = state.peek();
    // A mean over all pairs cannot be requested before the worker has sent the pairs.
    if (!now.pinned || (now.trace.pair === ALL && !answers.fields.traceTasks.peek())) return;
    const key = keyOfTrace(now);
    if (key === asked) return;
    asked = key;
    [pointed.value, paused.value] = [null, false];
    answers.set({ trace: null });
    requests.send({ verb: 'trace', state: now, pairs: pairsOf(now) });
  }

  return {
    /** Requests the trace of a state, if its view shows one. @param {State} now */
    follow(now) {
      if (now.model !== model) [asked, model, fitted] = ['', now.model, false];
      if (now.view !== 'trace') return;
      if (!fitted) requests.send({ verb: 'traceTasks', state: now });
      fitted = true;
      measure();
    },
    /** Repeats the requests after the worker has died. */
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
    /** The place under the pointer, or the place that was reached by the keyboard. */
    pointed: readOnly(pointed),
    /** Sets the place under the pointer, which the worker measures next. @param {GridPlace | null} place */
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
