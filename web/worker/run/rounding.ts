// Compares the attention of a quantized model with the attention of the same model with float32 weights.

import type { Rounding, State } from '../../model/protocol/protocol.ts';
import { runOf } from '../../model/runInput.ts';
import type { Hl, Transformer, TransformerSource } from '../sources/types.ts';
import type { Reply } from '../types.ts';
import { readRun } from './modelInput.ts';
/** The largest change of a weight, their sum and number; the rows with the same strongest key, and all rows */
export type AttentionChange = { largest: number; sum: number; count: number; same: number; rows: number };

/** The number of first tokens of the text that are compared. */
const MAX_TOKENS = 64;
/** Maximum memory of WebAssembly, and the maximum share of the computer's memory that the float32 model may take. */
const [MAX_MEMORY, MAX_SHARE] = [4 * 2 ** 30, 0.5];
/** Memory of the computer in GB that is assumed if the browser does not report it. */
const USUAL_MEMORY = 4;

const strongestKey = (row: Float32Array) => row.indexOf(row.reduce((a, b) => Math.max(a, b)));

/** `exact`: attention weights by layer; `keys`: the number of keys in a row. */
export function attentionChange(
  exact: readonly Float32Array[],
  rounded: readonly Float32Array[],
  keys: number,
): AttentionChange {
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

const weightsOf = (hl: Hl, model: Transformer, ids: number[]) =>
  hl.scope(() => {
    const { captured } = model.forward({ ids: [ids] }, { capture: ['blocks.*.weights'] });
    return Object.values(captured).map((tensor) => tensor.copy());
  });

/** Returns true if the float32 weights of a model probably fit into memory together with the weights in use. */
function fits(hl: Hl, { weights }: Transformer) {
  const bytes = [...weights.values()].reduce((sum, { shape }) => sum + 4 * shape.reduce((a, b) => a * b, 1), 0);
  const { deviceMemory = USUAL_MEMORY } = (globalThis.navigator ?? {}) as { deviceMemory?: number };
  return bytes < Math.min(MAX_MEMORY - hl.info.memory.used, MAX_SHARE * deviceMemory * 2 ** 30);
}

/** Opens the model with float32 weights, runs both models on the first tokens of the text, and sends the comparison. */
export async function measureRounding(hl: Hl, source: TransformerSource, state: State, reply: Reply) {
  const { model, openExact } = source;
  const send = (rounding: Rounding) => reply.send('rounding', { rounding });
  if (!openExact) return;
  if (!fits(hl, model)) return send({ is: 'tooLarge' });
  send({ is: 'reading', read: 0, total: 1 });
  const abort = new AbortController();
  let exact: Transformer | undefined;
  try {
    const ids = readRun(source, runOf(state)).ids.slice(0, MAX_TOKENS);
    exact = await openExact(abort.signal, async (read, total) => {
      send({ is: 'reading', read, total });
      if (await reply.checkCancelled()) abort.abort();
    });
    const { largest, same, rows } = attentionChange(weightsOf(hl, exact, ids), weightsOf(hl, model, ids), ids.length);
    send({ is: 'measured', tokens: ids.length, same: same / rows, largest });
  } catch (error) {
    if (reply.isCancelled()) return;
    const { code, message } = error as Error & { code?: string };
    send(code === 'OUT_OF_MEMORY' ? { is: 'tooLarge' } : { is: 'failed', message });
  } finally {
    exact?.dispose();
  }
}
