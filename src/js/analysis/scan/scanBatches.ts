// Plans the runs of a scan: which sequences are run at once, and the weights of which layers are captured.

/** Sequences of the same length that are run at once. */
export type Batch = { sequences: number[]; length: number };

/** Maximum tokens of a run. More tokens are hardly faster, and their weights need more memory. */
const TOKENS_AT_ONCE = 256;
/** Maximum bytes of the captured weights of a run. */
const MAX_CAPTURED_BYTES = 2 ** 29;

/**
 * Divides sequences into batches of equal length, in the order of the first sequence of each batch. A batch does not
 * mix warmup sequences with others.
 * @param options batch: maximum sequences of a batch; warmup: index of the first sequence after the warmup
 */
export function batchesOf(
  ids: readonly Int32Array[],
  sequences: readonly number[],
  { batch: most, warmup }: { batch?: number | undefined; warmup: number },
): Batch[] {
  const batches: Batch[] = [];
  /** The last batch of each length, to which sequences may be added. */
  const open: Map<number, Batch> = new Map();
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
 * Divides layers into groups whose weights are captured in one run. With long sequences, the model is run once for each
 * group.
 * @param bytes bytes of the weights of a layer
 */
export function layerGroups(layers: number, bytes: number): number[][] {
  const most = Math.max(1, Math.floor(MAX_CAPTURED_BYTES / bytes));
  return Array.from({ length: Math.ceil(layers / most) }, (_, i) =>
    Array.from({ length: Math.min(most, layers - i * most) }, (_, l) => i * most + l),
  );
}
