// Requests about a circuit, which consists of those edges between heads and MLPs of a model that carry the prediction.
// Few visitors open a circuit, so the first request loads the code.

import type { State } from '../../model/protocol/protocol.ts';
import { runOf } from '../../model/runInput.ts';
import type { Circuits } from '../circuit/circuits.ts';
import { transformerOf } from '../sources/sources.ts';
import type { Handler, Reply, WorkerContext } from '../types.ts';

export type { Circuits } from '../circuit/circuits.ts';

const all: WeakMap<WorkerContext, Promise<Circuits>> = new WeakMap();

function circuitsOf(worker: WorkerContext): Promise<Circuits> {
  const made = all.get(worker) ?? import('../circuit/circuits.ts').then(({ Circuits }) => new Circuits(worker));
  all.set(worker, made);
  return made;
}

/** Returns a text that identifies everything that a circuit without cuts depends on. */
const keyOf = (state: State) =>
  JSON.stringify([state.model, runOf(state), state.pinned, state.trace.answers, state.circuit?.carries]);

/** Returns circuits, source and text of keyOf; null if `flow` cannot show the model, as addresses may ask for any. */
async function found(state: State, reply: Reply, worker: WorkerContext) {
  const opened = await worker.sourceOf(state, reply);
  if (!opened.about.sums || opened.about.parts.length > 0) return null;
  const source = transformerOf(opened);
  return { circuits: await circuitsOf(worker), source, key: `${source.version} ${keyOf(state)}` };
}

export const circuit: Handler<'circuit'> = {
  async answer({ state }, reply, worker) {
    const one = await found(state, reply, worker);
    await one?.circuits.measure(one.source, state, one.key, reply);
  },
};

export const circuitCut: Handler<'circuitCut'> = {
  async answer({ state, lines }, reply, worker) {
    const one = await found(state, reply, worker);
    await one?.circuits.cut(one.source, state, one.key, lines, reply);
  },
};
