// Runs the model with some edges cut. Measures the prediction, the costs of other edges, and the attention weights of
// the head where the last edge that was cut ends.

import { indexOfLargest } from '../../../src/js/check/extremes.js';
import { probabilities } from '../run/predictions.js';
import { CANCELLED, endsOf, runLines } from './experiment.js';

/** @import { CircuitCuts } from '../../store/circuitProtocol.js' */
/** @import { Reply } from '../types.js' */
/** @import { Experiment } from './experiment.js' */

/**
 * @param {Experiment} experiment
 * @param {readonly string[]} cut names of the edges to cut; names that the model does not have are ignored
 * @param {readonly string[]} lines names of the other edges that are measured with these cuts
 * @param {Reply} reply
 */
export async function measureCuts(experiment, cut, lines, reply) {
  const { graph } = experiment;
  const known = cut.filter((name) => graph.names.has(name));
  const last = known.at(-1);
  if (last === undefined) return;
  const active = new Uint8Array(graph.size).fill(1);
  for (const name of known) active[Number(graph.names.get(name))] = 0;
  const { from, to } = endsOf(graph, Number(graph.names.get(last)));
  const head = to.kind === 'query' || to.kind === 'key' || to.kind === 'value' ? headOf(experiment, to) : null;
  const at = head ? `blocks.${head.layer}.weights` : null;
  const look = (/** @type {any} */ { captured }) => (head && at ? rowAt(captured[at], head.head) : null);

  /** @type {Float32Array | null} */
  let row = null;
  let guess = { text: '', probability: 0 };
  const now = runLines(experiment, active, at ? [at] : [], (result) => {
    row = look(result);
    guess = likeliestOf(experiment, result);
  });
  /** @type {Float32Array | null} */
  let before = null;
  if (at) {
    const all = new Uint8Array(graph.size).fill(1);
    runLines(experiment, all, [at], (result) => {
      before = look(result);
    });
  }
  /** @type {CircuitCuts} */
  const answer = {
    cut: known,
    now,
    guess,
    lines: {},
    looks: looksOf(head, experiment.place, before, row),
    sourceOff: null,
  };
  reply.send('circuit', { cuts: answer });

  const without = active.slice();
  for (const line of graph.names.values()) if (endsOf(graph, line).from === from) without[line] = 0;
  await next(reply);
  const sourceOff = runLines(experiment, without);
  reply.send('circuit', { cuts: { ...answer, sourceOff } });
  for (const name of lines) {
    const line = graph.names.get(name);
    if (line === undefined || known.includes(name)) continue;
    await next(reply);
    const fewer = active.slice();
    fewer[line] = 0;
    answer.lines[name] = runLines(experiment, fewer);
  }
  reply.send('circuit', { cuts: { ...answer, sourceOff } });
}

/** @param {Reply} reply */
async function next(reply) {
  if (await reply.checkCancelled()) throw CANCELLED;
}

/** Returns a target's head; the first, if several share it. @param {Experiment} experiment @param {any} target */
function headOf({ model }, { kind, layer, head }) {
  const { numHeads, kvHeads = numHeads } = model.options;
  return { layer, head: kind === 'query' ? head : (head * numHeads) / kvHeads };
}

/** Returns the last row of a head's attention weights. @param {any} weights a tensor (1,H,T,T) @param {number} head */
function rowAt({ data, shape }, head) {
  const T = shape[3];
  return data.slice((head * T + T - 1) * T, (head + 1) * T * T);
}

/**
 * Returns the key that had the largest weight before the cuts, and the weight of this key before and now.
 * @param {{ layer: number, head: number } | null} head
 * @param {number} token
 * @param {Float32Array | null} before
 * @param {Float32Array | null} now
 * @returns {CircuitCuts['looks']}
 */
function looksOf(head, token, before, now) {
  if (!head || !before || !now) return null;
  const key = indexOfLargest(before);
  return { head, token, key, before: before[key], now: now[key] };
}

/** @param {Experiment} experiment @param {any} result */
function likeliestOf({ name }, { logits }) {
  const row = logits.data.slice(-logits.shape.at(-1));
  const all = probabilities(row);
  const best = indexOfLargest(all);
  return { text: name(best).trim(), probability: all[best] };
}
