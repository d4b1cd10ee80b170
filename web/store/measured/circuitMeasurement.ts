// Sends the requests of a circuit, and collects what has been measured so far.

import type { ReadonlySignal } from '@preact/signals';
import { type Circuit, inOrder } from '../../model/circuit/shownLines.ts';
import type { CircuitPart } from '../../model/protocol/circuitProtocol.ts';
import { runOf } from '../../model/runInput.ts';
import type { State } from '../../model/state.ts';
import { isOpen } from '../../model/training/settings.ts';
import type { Requests } from '../requests.ts';

/** Returns all values on which a circuit depends, except the edges that are cut, as a text that can be compared. */
const keyOf = ({ model, pinned, trace, circuit, ...state }: State) =>
  JSON.stringify([model, runOf(state), pinned, trace.answers, circuit?.carries]);

export function createMeasurement({
  requests,
  state,
  shown,
  show,
  point,
}: {
  requests: Requests;
  state: ReadonlySignal<State>;
  shown: ReadonlySignal<Circuit | null>;
  show: (circuit: Circuit | null) => void;
  point: (name: string | null) => void;
}) {
  /** The values that the last request of a circuit depends on, and those of the last request with cuts, as texts. */
  let [asked, askedCut] = ['', ''];

  function measure(now: State) {
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
  function receive({ begun, work, lines, needed, points, cuts }: CircuitPart) {
    const old = shown.peek();
    if (begun) {
      const started = { stage: 'order', done: 0, total: 1, left: null } as const;
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
    follow(now: State) {
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
    again: () => measure(state.peek()),
    clear() {
      [asked, askedCut] = ['', ''];
      show(null);
      point(null);
    },
    receive,
  };
}
export type Measurement = ReturnType<typeof createMeasurement>;
