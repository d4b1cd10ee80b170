// Requests the trace that the page shows, and holds the cells that have been measured so far.

import { type ReadonlySignal, signal } from '@preact/signals';
import type { GridPlace } from '../../../src/js/analysis/patching/patchGrid.ts';
import type { TraceCells, TraceRuns, TraceTasks } from '../../model/protocol/traceProtocol.ts';
import { runOf } from '../../model/runInput.ts';
import type { State } from '../../model/state.ts';
import { startTrace, withCells } from '../../model/trace/places.ts';
import { ALL } from '../../model/trace/settings.ts';
import type { Pair } from '../../model/trace/tasks.ts';
import type { Answers } from '../answers.ts';
import { readOnly } from '../readOnly.ts';
import type { Requests } from '../requests.ts';

/** Returns a text that identifies everything that a trace depends on. */
const keyOfTrace = (state: State) =>
  JSON.stringify([state.model, state.pinned, { ...runOf(state), patch: {} }, state.trace]);

export function createTracing({
  requests,
  state,
  answers,
}: {
  requests: Requests;
  state: ReadonlySignal<State>;
  answers: Answers;
}) {
  /** A text that identifies the last request; the model; true once the tasks that fit the model were requested. */
  let [asked, model, fitted] = ['', '', false];
  const pointed = signal(null as GridPlace | null);
  const paused = signal(false);

  const pairsOf = ({ trace: { task } }: State): Pair[] =>
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
    /** Requests the trace of a state, if its view shows one. */
    follow(now: State) {
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
      traceTasks(traceTasks: TraceTasks) {
        answers.set({ traceTasks });
        measure();
      },
      traceRuns: (runs: TraceRuns) => answers.set({ trace: startTrace(runs) }),
      traceCells(cells: TraceCells) {
        const trace = answers.fields.trace.peek();
        if (trace) answers.set({ trace: withCells(trace, cells) });
      },
    },
    pointed: readOnly(pointed),
    /** Sets the place under the pointer, which the worker measures next. */
    point(place: GridPlace | null) {
      pointed.value = place;
      if (requests.tracing.peek()) requests.send({ verb: 'traceControl', place });
    },
    paused: readOnly(paused),
    pause(is: boolean) {
      paused.value = is;
      requests.send({ verb: 'traceControl', paused: is });
    },
  };
}
export type Tracing = ReturnType<typeof createTracing>;
