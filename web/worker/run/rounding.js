// Compares the attention of a model whose weights are in few bits with that of the same file in float32.

import { runOf } from '../../store/runInput.js';
import { readRun } from './modelInput.js';

/** @import { Rounding, State } from '../../store/protocol.js' */
/** @import { Hl, Transformer, TransformerSource } from '../sources/types.js' */
/** @import { Reply } from '../types.js' */
/**
 * Changes of attention weights: the largest one, their sum, the number of weights; the rows whose strongest key is the
 * same, and all rows.
 * @typedef {{ largest: number, sum: number, count: number, same: number, rows: number }} AttentionChange
 */

/** Tokens that are compared, from the first. */
const MAX_TOKENS = 64;
/** Memory of WebAssembly, and the share of the computer's memory that the float32 model may take. */
const [MAX_MEMORY, MAX_SHARE] = [4 * 2 ** 30, 0.5];
/** Memory of the computer in GB, if the browser does not say. */
const USUAL_MEMORY = 4;

/** The strongest key of a row. @param {Float32Array} row */
const strongestKey = (row) => row.indexOf(row.reduce((a, b) => Math.max(a, b)));

/**
 * @param {readonly Float32Array[]} exact attention weights by layer
 * @param {readonly Float32Array[]} rounded
 * @param {number} keys of a row
 * @returns {AttentionChange}
 */
export function attentionChange(exact, rounded, keys) {
  const change = { largest: 0, sum: 0, count: 0, same: 0, rows: 0 };
  exact.forEach((weights, layer) => {
    const others = rounded[layer];
    for (let at = 0; at < weights.length; at++) {
      const off = Math.abs(weights[at] - others[at]);
      change.largest = Math.max(change.largest, off);
      change.sum += off;
    }
    for (let row = 0; row < weights.length; row += keys) {
      const [a, b] = [weights, others].map((all) => strongestKey(all.subarray(row, row + keys)));
      change.same += Number(a === b);
    }
    change.count += weights.length;
    change.rows += weights.length / keys;
  });
  return change;
}

/** Attention weights by layer. @param {Hl} hl @param {Transformer} model @param {number[]} ids */
const weightsOf = (hl, model, ids) =>
  hl.scope(() => {
    const { captured } = model.forward({ ids: [ids] }, { capture: ['blocks.*.weights'] });
    return Object.values(captured).map((tensor) => tensor.copy());
  });

/**
 * True if the float32 weights of a model probably fit into memory next to those in use.
 * @param {Hl} hl
 * @param {Transformer} model
 */
function fits(hl, { weights }) {
  const bytes = [...weights.values()].reduce((sum, { shape }) => sum + 4 * shape.reduce((a, b) => a * b, 1), 0);
  const { deviceMemory = USUAL_MEMORY } = /** @type {{ deviceMemory?: number }} */ (globalThis.navigator ?? {});
  return bytes < Math.min(MAX_MEMORY - hl.info.memory.used, MAX_SHARE * deviceMemory * 2 ** 30);
}

/**
 * Opens the model in float32, and runs the first tokens of the text both ways.
 * @param {Hl} hl
 * @param {TransformerSource} source
 * @param {State} state
 * @param {Reply} reply
 */
export async function measureRounding(hl, source, state, reply) {
  const { model, openExact } = source;
  const send = (/** @type {Rounding} */ rounding) => reply.send('rounding', { rounding });
  if (!openExact) return;
  if (!fits(hl, model)) return send({ is: 'tooLarge' });
  const ids = readRun(source, runOf(state)).ids.slice(0, MAX_TOKENS);
  send({ is: 'reading', read: 0, total: 1 });
  const abort = new AbortController();
  /** @type {Transformer | undefined} */
  let exact;
  try {
    exact = await openExact(abort.signal, async (read, total) => {
      send({ is: 'reading', read, total });
      if (await reply.checkCancelled()) abort.abort();
    });
    const { largest, same, rows } = attentionChange(weightsOf(hl, exact, ids), weightsOf(hl, model, ids), ids.length);
    send({ is: 'measured', tokens: ids.length, same: same / rows, largest });
  } catch (error) {
    if (reply.isCancelled()) return;
    const { code, message } = /** @type {Error & { code?: string }} */ (error);
    send(code === 'OUT_OF_MEMORY' ? { is: 'tooLarge' } : { is: 'failed', message });
  } finally {
    exact?.dispose();
  }
}
