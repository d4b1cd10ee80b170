// Plans the runs of a scan: which sequences are run at once, and the weights of which layers are captured.

export type Batch = { sequences: number[]; length: number };

/** Maximum tokens of a run. More tokens are hardly faster, and their weights need more memory. */
const TOKENS_AT_ONCE = 256;
/** Maximum bytes of the captured weights of a run. */
const MAX_CAPTURED_BYTES = 2 ** 29;

/**
 * Batches of equal length, in the order of their first sequences. None mixes warmup sequences with others. options:
 * batch: most sequences; warmup: first sequence after the warmup.
 */
export function batchesOf(
  ids: readonly Int32Array[],
  sequences: readonly number[],
  { batch: most, warmup }: { batch?: number | undefined; warmup: number },
): Batch[] {
  const batches: Batch[] = [];
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

/** Groups of layers whose weights are captured in one run; long sequences are run once for each. bytes: of a layer. */
export function layerGroups(layers: number, bytes: number): number[][] {
  const most = Math.max(1, Math.floor(MAX_CAPTURED_BYTES / bytes));
  return Array.from({ length: Math.ceil(layers / most) }, (_, i) =>
    Array.from({ length: Math.min(most, layers - i * most) }, (_, l) => i * most + l),
  );
}
