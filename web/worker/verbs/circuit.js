// Requests about a circuit, which consists of those edges between heads and MLPs of a model that carry the prediction.
// Few visitors open a circuit, so the first request loads the code.

import { runOf } from '../../store/runInput.js';
import { transformerOf } from '../sources/sources.js';

/** @import { State } from '../../store/protocol.js' */
/** @import { Handler, Reply, WorkerContext } from '../types.js' */
/** @typedef {import('../circuit/circuits.js').Circuits} Circuits */

/** The circuits of each worker. @type {WeakMap<WorkerContext, Promise<Circuits>>} */
const all = new WeakMap();

/** @param {WorkerContext} worker @returns {Promise<Circuits>} */
function circuitsOf(worker) {
  const made = all.get(worker) ?? import('../circuit/circuits.js').then(({ Circuits }) => new Circuits(worker));
  all.set(worker, made);
  return made;
}

/** Returns a text that identifies everything that a circuit without cuts depends on. @param {State} state */
const keyOf = (state) =>
  JSON.stringify([state.model, runOf(state), state.pinned, state.trace.answers, state.circuit?.carries]);

/**
 * Returns the circuits, the source and the text of keyOf. Returns null for a model that the view `flow` cannot show,
 * because an address may contain this view for any model.
 * @param {State} state @param {Reply} reply @param {WorkerContext} worker
 */
async function found(state, reply, worker) {
  const any = await worker.sourceOf(state, reply);
  if (!any.about.sums || any.about.parts.length > 0) return null;
  const source = transformerOf(any);
  return { circuits: await circuitsOf(worker), source, key: `${source.version} ${keyOf(state)}` };
}

/** @type {Handler<'circuit'>} */
export const circuit = {
  async answer({ state }, reply, worker) {
    const one = await found(state, reply, worker);
    await one?.circuits.measure(one.source, state, one.key, reply);
  },
};

/** @type {Handler<'circuitCut'>} */
export const circuitCut = {
  async answer({ state, lines }, reply, worker) {
    const one = await found(state, reply, worker);
    await one?.circuits.cut(one.source, state, one.key, lines, reply);
  },
};
