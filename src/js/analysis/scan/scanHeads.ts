// Examines every head over many texts: runs the model on each text, and collects measures and samples of the attention
// weights.

import { checkOptions, readNumber, readSignal } from '../../check/arguments.ts';
import { argumentError, HeadlightError, shapeError } from '../../check/errors.ts';
import { formatShape } from '../../check/shape.ts';
import { type ModelOptions, type Result, readCaptured, requireModel } from '../arrays.ts';
import { type Bounds, boundsOf } from '../roles/roleRules.ts';
import { type NamedModel, tokenNames } from '../tokenNames.ts';
import { HeadSamples } from './headSamples.ts';
import { type HeadScan, headScanOf } from './headScan.ts';
import { HeadSums, type Prepared, prepare } from './headSums.ts';
import { RowSelector } from './keptRows.ts';
import { type Batch, batchesOf, layerGroups } from './scanBatches.ts';
import { readSequences } from './sequences.ts';

export type ScannedOptions = ModelOptions & {
  vocab?: number;
  context?: number;
  causal?: boolean;
  input?: string;
  window?: readonly (number | null)[] | null;
  encoder?: object | undefined;
};
export type ScannedModel = NamedModel & {
  options: ScannedOptions;
  forward(input: any, options: { capture: any[]; last: true }): Result & { dispose(): void };
};
export type ScanOptions = {
  /** number of intervals of the maxima, with about the same number of sequences each; default 5 */
  intervals?: number | undefined;
  /** number of sequences drawn from each interval except the highest; default 3 */
  samples?: number | undefined;
  /** number of sequences of the highest interval, which are those with the largest maxima; default 10 */
  top?: number | undefined;
  /** number of weights that are kept from each row of a sample, which are the largest; default 8 */
  keep?: number | undefined;
  /** smallest weight that is kept; default 0.005 */
  least?: number | undefined;
  /** smallest weight that counts for induction; default 0.01 */
  threshold?: number | undefined;
  /**
   * number of first sequences, without skipped ones, that only define the intervals; default 0: all define them and can
   * be sampled
   */
  warmup?: number | undefined;
  /** seed of the draws; default 0 */
  seed?: number | undefined;
  /** maximum number of sequences of equal length that are run at once; default: as many as have 256 tokens together */
  batch?: number | undefined;
  /** returns the text of a token; default: by the model's tokenizer */
  names?: ((id: number) => string) | undefined;
  /** a promise is awaited; if it rejects, so does scanHeads */
  onProgress?: ((progress: ScanProgress) => unknown) | undefined;
  signal?: AbortSignal | undefined;
};
/** done, total: numbers of sequences. scan: returns the results so far. */
export type ScanProgress = { done: number; total: number; scan: () => HeadScan };

const CALLER = 'scanHeads';
const NUMBERS = ['intervals', 'samples', 'top', 'keep', 'least', 'threshold', 'warmup', 'seed', 'batch'];
const MAX_INTERVALS = 1024;
/** Maximum bytes of the weights from which samples are drawn, if each row keeps as many weights as it may. */
const MAX_SPARE_BYTES = 2 ** 27;

/**
 * Measures every head over many texts (or lists of ids), and chooses texts that show its behaviour (definitions of
 * HeadVis: Luger, Kamath et al. 2026). Sequences are truncated to the context of the model; those with fewer than two
 * tokens are skipped.
 */
export async function scanHeads(
  model: ScannedModel,
  sequences: readonly (string | ArrayLike<number>)[],
  options: ScanOptions = {},
): Promise<HeadScan> {
  requireModel(CALLER, model);
  checkOptions(CALLER, options, [...NUMBERS, 'names', 'onProgress', 'signal']);
  const sizes = readSizes(options);
  const signal = readSignal(CALLER, options.signal);
  const { names, onProgress } = options;
  for (const [name, value] of Object.entries({ names, onProgress }))
    if (value !== undefined && typeof value !== 'function') throw argumentError(CALLER, name, value, 'a function');
  checkModel(model.options);
  signal?.throwIfAborted();
  const ids = await readSequences(CALLER, model, sequences, signal);
  const scan = new Scan(model, ids, sizes, tokenNames(model, names));
  await scan.run(onProgress, signal);
  return scan.results();
}

function readSizes({
  intervals = 5,
  samples = 3,
  top = 10,
  keep = 8,
  least = 0.005,
  threshold = 0.01,
  warmup = 0,
  seed = 0,
  batch,
}: ScanOptions) {
  const count = (name: string, value: number, from = 1, most = 2 ** 31 - 1) =>
    readNumber(CALLER, name, value, { integer: true, least: from, most });
  return {
    intervals: count('intervals', intervals, 1, MAX_INTERVALS),
    samples: count('samples', samples),
    top: count('top', top),
    keep: count('keep', keep),
    least: readNumber(CALLER, 'least', least, { least: 0 }),
    threshold: readNumber(CALLER, 'threshold', threshold, { least: 0 }),
    warmup: count('warmup', warmup, 0),
    seed: count('seed', seed, 0),
    batch: batch === undefined ? undefined : count('batch', batch),
  };
}

function checkModel({ layers, encoder, input = 'tokens' }: ScannedOptions) {
  const refuse = (reason: string) => new HeadlightError('ARGUMENT', `${CALLER}: ${reason}`, { parameter: 'model' });
  if (encoder) throw refuse('this model has an encoder, so one sequence is not a complete input');
  if (input !== 'tokens') throw refuse(`this model reads ${input}, not tokens`);
  if (layers === 0) throw refuse('this model has no blocks and therefore no heads');
}

/** Called with the weights (T,T) of each head of a sequence. Their first element is at the index `start`. */
export type Use = (sequence: number, layer: number, head: number, weights: Float32Array, start: number) => void;

class Scan {
  #model: ScannedModel;
  #ids: Int32Array[];
  /** Indices of the sequences that are not skipped. */
  #whole: number[];
  #sizes: {
    warmup: number;
    intervals: number;
    samples: number;
    top: number;
    keep: number;
    least: number;
    threshold: number;
    seed: number;
    batch: number | undefined;
  };
  #sums: HeadSums;
  #samples: HeadSamples;
  #selector: RowSelector;
  #state: {
    sums: HeadSums;
    samples: HeadSamples;
    ids: Int32Array<ArrayBufferLike>[];
    skipped: number[];
    nameOf: (id: number) => string;
  };
  #bounds: Bounds[];

  constructor(
    model: ScannedModel,
    ids: Int32Array[],
    sizes: ReturnType<typeof readSizes>,
    nameOf: (id: number) => string,
  ) {
    const { layers, numHeads: heads } = model.options;
    const { intervals, samples } = sizes;
    const longest = ids.reduce((most, { length }) => Math.max(most, length), 0);
    const keep = Math.min(sizes.keep, longest);
    const spare = Math.floor(MAX_SPARE_BYTES / (8 * keep * longest * layers * heads));
    const whole = ids.flatMap(({ length }, n) => (length < 2 ? [] : [n]));
    // Skipped sequences do not count.
    const warmup = sizes.warmup === 0 ? 0 : (whole[sizes.warmup] ?? ids.length);
    this.#model = model;
    this.#ids = ids;
    this.#whole = whole;
    this.#sizes = { ...sizes, warmup };
    this.#selector = new RowSelector(keep, sizes.least);
    this.#samples = new HeadSamples(
      { count: ids.length, layers, heads, ...this.#sizes },
      Math.min(Math.max(spare, intervals * samples), intervals * (3 * samples + 3)),
    );
    this.#bounds = boundsOf(model.options);
    this.#sums = new HeadSums(heads, sizes.threshold, this.#bounds);
    const skipped = ids.flatMap(({ length }, n) => (length < 2 ? [n] : []));
    this.#state = { sums: this.#sums, samples: this.#samples, ids, skipped, nameOf };
  }

  results = () => headScanOf(this.#state);

  async run(onProgress: ScanOptions['onProgress'], signal?: AbortSignal) {
    let [done, total] = [0, this.#whole.length];
    const runAll = async (sequences: number[], useOf: (batch: Batch) => Use) => {
      for (const batch of batchesOf(this.#ids, sequences, this.#sizes)) {
        // Yields to the event loop, so that an abort is handled and results can be displayed.
        await new Promise((resolve) => setTimeout(resolve));
        signal?.throwIfAborted();
        this.#forward(batch, useOf(batch));
        done += batch.sequences.length;
        await onProgress?.({ done, total, scan: this.results });
      }
    };
    await runAll(this.#whole, (batch) => this.#measure(batch));
    const missing = this.#samples.missing();
    total += missing.size;
    await runAll(
      [...missing.keys()].sort((a, b) => a - b),
      () => this.#keepMissing(missing),
    );
    this.#samples.finish();
  }

  #measure({ sequences }: Batch): Use {
    const prepared = new Map(sequences.map((n) => [n, prepare(this.#ids[n])]));
    for (const sequence of prepared.values()) this.#sums.count(sequence);
    return (n, layer, head, weights, start) => {
      const [sequence, bounds] = [prepared.get(n) as Prepared, this.#bounds[layer]];
      const max = this.#sums.add(layer, head, weights, start, sequence);
      this.#samples.add(n, this.#indexOf(layer, head), max, () =>
        this.#selector.select(weights, start, sequence.ids.length, bounds),
      );
    };
  }

  #keepMissing(missing: Map<number, number[]>): Use {
    return (n, layer, head, weights, start) => {
      const index = this.#indexOf(layer, head);
      if (!missing.get(n)?.includes(index)) return;
      const rows = this.#selector.select(weights, start, this.#ids[n].length, this.#bounds[layer]);
      this.#samples.addMissing(n, index, rows);
    };
  }

  #indexOf(layer: number, head: number) {
    return layer * this.#model.options.numHeads + head;
  }

  #forward({ sequences, length }: Batch, use: Use) {
    const { layers, numHeads: heads } = this.#model.options;
    const size = length * length;
    const input = sequences.map((n) => Array.from(this.#ids[n]));
    for (const group of layerGroups(layers, 4 * sequences.length * heads * size)) {
      const capture = group.length === layers ? ['blocks.*.weights'] : group.map((l) => `blocks.${l}.weights`);
      const result = this.#model.forward(input, { capture, last: true });
      try {
        for (const layer of group) {
          const name = `blocks.${layer}.weights`;
          // The block has no attention.
          if (result.captured[name] === undefined) continue;
          const { floats, shape } = readCaptured(CALLER, result, name, 'BHTS', capture);
          const expected = [sequences.length, heads, length, length];
          if (String(shape) !== String(expected)) throw shapeError(CALLER, name, shape, formatShape(expected));
          sequences.forEach((n, b) => {
            for (let h = 0; h < heads; h++) use(n, layer, h, floats, (b * heads + h) * size);
          });
        }
      } finally {
        result.dispose();
      }
    }
  }
}
