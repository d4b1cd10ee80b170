// The runs of a scan: which sequences are run at once, and of which layers the weights are captured.

/** Sequences of the same length that are run at once. @typedef {{ sequences: number[], length: number }} Batch */

/** Tokens of a run. More at once are hardly faster, and their weights need more memory. */
const TOKENS_AT_ONCE = 256;
/** Bytes of captured weights of a run. */
const MAX_CAPTURED_BYTES = 2 ** 29;

/**
 * Sequences of equal length, in the order of the first of each batch; the warmup is not mixed with others.
 * @param {readonly Int32Array[]} ids
 * @param {readonly number[]} sequences
 * @param {{ batch?: number | undefined, warmup: number }} options batch: sequences at once; warmup: the first sequence
 *   after the warmup
 * @returns {Batch[]}
 */
export function batchesOf(ids, sequences, { batch: most, warmup }) {
  /** @type {Batch[]} */
  const batches = [];
  /** The last batch of each length, which may have room. @type {Map<number, Batch>} */
  const open = new Map();
  for (const n of sequences) {
    if (n === warmup) open.clear();
    const { length } = ids[n];
    const limit = most ?? Math.max(1, Math.floor(TOKENS_AT_ONCE / length));
    const last = open.get(length);
    if (last && last.sequences.length < limit) last.sequences.push(n);
    else {
      const batch = { sequences: [n], length };
      batches.push(batch);
      open.set(length, batch);
    }
  }
  return batches;
}

/**
 * Groups of layers whose weights are captured in one run. A model with long sequences is run once for each group.
 * @param {number} layers
 * @param {number} bytes of the weights of a layer
 * @returns {number[][]}
 */
export function layerGroups(layers, bytes) {
  const most = Math.max(1, Math.floor(MAX_CAPTURED_BYTES / bytes));
  return Array.from({ length: Math.ceil(layers / most) }, (_, i) =>
    Array.from({ length: Math.min(most, layers - i * most) }, (_, l) => i * most + l),
  );
}
