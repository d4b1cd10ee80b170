// The circuit of the page: its requests, and what has been measured so far.

import { signal } from '@preact/signals';
import { byLoss } from '../features/circuit/shownLines.js';
import { isOpen } from '../features/train/settings.js';
import { readOnly } from './readOnly.js';
import { runOf } from './runInput.js';

/** @import { ReadonlySignal } from '@preact/signals' */
/** @import { Circuit } from '../features/circuit/shownLines.js' */
/** @import { CircuitBegun, CircuitCuts, CircuitParts, CircuitWork } from './circuitProtocol.js' */
/** @import { State } from './state.js' */

/** Everything that a circuit depends on, without cuts. @param {State} state */
const keyOf = ({ model, pinned, trace, circuit, ...state }) =>
  JSON.stringify([model, runOf(state), pinned, trace.answers, circuit?.carries]);

/**
 * @param {object} options
 * @param {import('./requests.js').Requests} options.requests
 * @param {ReadonlySignal<State>} options.state
 */
export function createCircuitStore({ requests, state }) {
  const circuit = signal(/** @type {Circuit | null} */ (null));
  const pointed = signal(/** @type {string | null} */ (null));
  /** Keys of the last requests. */
  let [asked, askedCut] = ['', ''];

  /** @param {Partial<Circuit>} fields */
  const set = (fields) => {
    if (circuit.value) circuit.value = { ...circuit.value, ...fields };
  };
  /** @param {State} now */
  function measure(now) {
    circuit.value = null;
    askedCut = '';
    requests.send({ verb: 'circuit', state: now });
  }
  function stop() {
    requests.cancel('circuit');
    requests.cancel('circuitCut');
  }
  /** Asks for the run with cuts: at once, and again when all lines are measured. */
  function measureCuts() {
    const now = state.peek();
    const { begun, lines, work } = circuit.peek() ?? {};
    const cut = now.circuit?.cut ?? [];
    if (!begun || begun.problem) return;
    const key = cut.length > 0 ? JSON.stringify([cut, work?.stage === 'done']) : '';
    if (key === askedCut) return;
    askedCut = key;
    if (key) requests.send({ verb: 'circuitCut', state: now, lines: byLoss(lines ?? []).map(({ name }) => name) });
    else {
      requests.cancel('circuitCut');
      set({ cuts: null });
    }
  }

  return {
    shown: readOnly(circuit),
    running: requests.cutting,
    /** The line that is pointed at, in the drawing or in the list. */
    pointed: readOnly(pointed),
    /** @param {string | null} name */
    point(name) {
      pointed.value = name;
    },
    /** Asks for what flow shows of a state. @param {State} now */
    follow(now) {
      if (now.view !== 'flow' || !now.circuit || isOpen(now)) {
        if (asked) stop();
        asked = '';
        return;
      }
      const key = keyOf(now);
      if (key !== asked) {
        asked = key;
        pointed.value = null;
        measure(now);
      } else measureCuts();
    },
    stop,
    /** A measurement that was stopped goes on. */
    again: () => measure(state.peek()),
    clear() {
      [asked, askedCut] = ['', ''];
      [circuit.value, pointed.value] = [null, null];
    },
    parts: {
      circuitBegun(/** @type {CircuitBegun} */ begun) {
        const work = /** @type {const} */ ({ stage: 'order', done: 0, total: 1, left: null });
        circuit.value = { begun, work, lines: [], points: [], cuts: null };
        measureCuts();
      },
      circuitWork(/** @type {CircuitWork} */ work) {
        set({ work });
        if (work.stage === 'done') measureCuts();
      },
      circuitLines: (/** @type {CircuitParts['circuitLines']} */ { lines }) =>
        set({ lines: [...(circuit.peek()?.lines ?? []), ...lines] }),
      circuitPoints: (/** @type {CircuitParts['circuitPoints']} */ { points }) =>
        set({ points: [...(circuit.peek()?.points ?? []), ...points] }),
      circuitCuts: (/** @type {CircuitCuts} */ { cut, now, guess, lines, looks, sourceOff }) =>
        set({ cuts: { cut, now, guess, lines, looks, sourceOff } }),
    },
  };
}
/** @typedef {ReturnType<typeof createCircuitStore>} CircuitStore */
