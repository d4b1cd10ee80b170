// Sends the requests of a circuit, and collects what has been measured so far.

import { runOf } from '../../store/runInput.js';
import { isOpen } from '../train/settings.js';
import { inOrder } from './shownLines.js';

/** @import { ReadonlySignal } from '@preact/signals' */
/** @import { CircuitPart } from '../../store/circuitProtocol.js' */
/** @import { State } from '../../store/state.js' */
/** @import { Circuit } from './shownLines.js' */

/**
 * Returns all values on which a circuit depends, except the edges that are cut, as a text that can be compared.
 * @param {State} state
 */
const keyOf = ({ model, pinned, trace, circuit, ...state }) =>
  JSON.stringify([model, runOf(state), pinned, trace.answers, circuit?.carries]);

/**
 * @param {object} store
 * @param {import('../../store/requests.js').Requests} store.requests
 * @param {ReadonlySignal<State>} store.state
 * @param {ReadonlySignal<Circuit | null>} store.shown
 * @param {(circuit: Circuit | null) => void} store.show
 * @param {(name: string | null) => void} store.point
 */
export function createMeasurement({ requests, state, shown, show, point }) {
  /** The values that the last request of a circuit depends on, and those of the last request with cuts, as texts. */
  let [asked, askedCut] = ['', ''];

  /** @param {State} now */
  function measure(now) {
    show(null);
    askedCut = '';
    requests.send({ verb: 'circuit', state: now });
  }
  function stop() {
    requests.cancel('circuit');
    requests.cancel('circuitCut');
  }
  /** Requests the run with cuts, both when the circuit begins and when all edges of the circuit have been measured. */
  function measureCuts() {
    const now = state.peek();
    const circuit = shown.peek();
    const cut = now.circuit?.cut ?? [];
    if (!circuit || circuit.begun.problem) return;
    const key = cut.length > 0 ? JSON.stringify([cut, circuit.work.stage === 'done']) : '';
    if (key === askedCut) return;
    askedCut = key;
    if (key) requests.send({ verb: 'circuitCut', state: now, lines: inOrder(circuit).map(({ name }) => name) });
    else {
      requests.cancel('circuitCut');
      receive({ cuts: null });
    }
  }
  /** @param {CircuitPart} part */
  function receive({ begun, work, lines, needed, points, cuts }) {
    const old = shown.peek();
    if (begun) {
      const started = /** @type {const} */ ({ stage: 'order', done: 0, total: 1, left: null });
      show({ begun, work: started, lines: [], needed: [], points: [], cuts: null });
    } else if (old)
      show({
        ...old,
        ...(work && { work }),
        ...(needed && { needed }),
        lines: [...old.lines, ...(lines ?? [])],
        points: [...old.points, ...(points ?? [])],
        ...(cuts !== undefined && { cuts }),
      });
    if (begun || work?.stage === 'done') measureCuts();
  }

  return {
    /** @param {State} now */
    follow(now) {
      if (now.view !== 'flow' || !now.circuit || isOpen(now)) {
        if (asked) stop();
        asked = '';
        return;
      }
      const key = keyOf(now);
      if (key === asked) return measureCuts();
      asked = key;
      point(null);
      measure(now);
    },
    stop,
    /** Measures again after the measurement was stopped. */
    again: () => measure(state.peek()),
    clear() {
      [asked, askedCut] = ['', ''];
      show(null);
      point(null);
    },
    receive,
  };
}
/** @typedef {ReturnType<typeof createMeasurement>} Measurement */
