// The circuit on the page. Few visitors open it, so the code of its requests is loaded when it is first shown.

import { type ReadonlySignal, signal } from '@preact/signals';
import type { Circuit } from '../../model/circuit/shownLines.ts';
import type { CircuitPart } from '../../model/protocol/circuitProtocol.ts';
import type { State } from '../../model/state.ts';
import { readOnly } from '../readOnly.ts';
import type { Requests } from '../requests.ts';
import type { Measurement } from './circuitMeasurement.ts';

export function createCircuitStore({ requests, state }: { requests: Requests; state: ReadonlySignal<State> }) {
  const shown = signal(null as Circuit | null);
  const pointed = signal(null as string | null);
  const show = (circuit: Circuit | null) => void (shown.value = circuit);
  const point = (name: string | null) => void (pointed.value = name);
  let measurement: Measurement | undefined;
  return {
    /** The part of the circuit that has been measured so far. */
    shown: readOnly(shown),
    running: requests.cutting,
    /** The name of the edge under the pointer, in the drawing or in the list. */
    pointed: readOnly(pointed),
    point,
    /** Requests the circuit that the view `flow` shows of a state. */
    follow(now: State) {
      if (measurement) measurement.follow(now);
      else if (now.view === 'flow' && now.circuit)
        import('./circuitMeasurement.ts').then(
          ({ createMeasurement }) => {
            measurement ??= createMeasurement({ requests, state, shown, show, point });
            measurement.follow(state.peek());
          },
          // The drawing is loaded at the same time and reports the failure, so it is ignored here.
          () => {},
        );
    },
    stop: () => measurement?.stop(),
    again: () => measurement?.again(),
    clear: () => measurement?.clear(),
    receive: (part: CircuitPart) => measurement?.receive(part),
  };
}
export type CircuitStore = ReturnType<typeof createCircuitStore>;
