// Examines every head over many texts: runs the model on each text, and collects measures and samples of the attention
// weights.

import { checkOptions, readNumber, readSignal } from '../check/arguments.js';
import { argumentError, HeadlightError, shapeError } from '../check/errors.js';
import { formatShape } from '../check/shape.js';
import { readCaptured, requireModel } from './arrays.js';
import { HeadSamples } from './headSamples.js';
import { headScanOf } from './headScan.js';
import { HeadSums, prepare } from './headSums.js';
import { RowSelector } from './keptRows.js';
import { boundsOf } from './roleRules.js';
import { batchesOf, layerGroups } from './scanBatches.js';
import { readSequences } from './sequences.js';
import { tokenNames } from './tokenNames.js';

/** @import { ModelOptions, Result } from './arrays.js' */
/** @import { HeadScan } from './headScan.js' */
/** @import { Prepared } from './headSums.js' */
/** @import { Rows } from './keptRows.js' */
/** @import { Bounds } from './roleRules.js' */
/** @import { Batch } from './scanBatches.js' */
/** @import { NamedModel } from './tokenNames.js' */

/**
 * The options of a Transformer that scanHeads uses.
 * @typedef {ModelOptions & { vocab?: number, context?: number, causal?: boolean, input?: string,
 *   window?: readonly (number | null)[] | null, encoder?: object | undefined }} ScannedOptions
 */
/**
 * @typedef {NamedModel & { options: ScannedOptions,
 *   forward(input: any, options: { capture: any[], last: true }): Result & { dispose(): void } }} ScannedModel
 */
/**
 * @typedef {object} ScanOptions
 * @property {number} [intervals] number of intervals of the maxima, with about the same number of sequences each;
 *   default 5
 * @property {number} [samples] number of sequences drawn from each interval except the highest; default 3
 * @property {number} [top] number of sequences of the highest interval, which are those with the largest maxima;
 *   default 10
 * @property {number} [keep] number of weights that are kept from each row of a sample, which are the largest; default 8
 * @property {number} [least] smallest weight that is kept; default 0.005
 * @property {number} [threshold] smallest weight that counts for induction; default 0.01
 * @property {number} [warmup] number of first sequences, not counting skipped ones, that define the intervals and are
 *   not sampled; default 0, which means that all sequences define the intervals and can be sampled
 * @property {number} [seed] seed of the draws; default 0
 * @property {number} [batch] maximum number of sequences of equal length that are run at once; default: as many as have
 *   256 tokens together
 * @property {(id: number) => string} [names] returns the text of a token; default: by the model's tokenizer
 * @property {(progress: ScanProgress) => unknown} [onProgress] a promise is awaited; if it rejects, so does scanHeads
 * @property {AbortSignal} [signal]
 */
/**
 * done, total: numbers of sequences. scan: returns the results so far, with only those samples whose weights are kept
 * so far.
 * @typedef {{ done: number, total: number, scan: () => HeadScan }} ScanProgress
 */

const CALLER = 'scanHeads';
const NUMBERS = ['intervals', 'samples', 'top', 'keep', 'least', 'threshold', 'warmup', 'seed', 'batch'];
const MAX_INTERVALS = 1024;
/** Maximum bytes of the weights from which samples are drawn, if each row keeps as many weights as it may. */
const MAX_SPARE_BYTES = 2 ** 27;

/**
 * Measures every head over many texts, and chooses texts that show its behaviour (definitions of HeadVis: Luger, Kamath
 * et al. 2026). Sequences are truncated to the context of the model; those with fewer than two tokens are skipped.
 *
 * @param {ScannedModel} model
 * @param {readonly (string | ArrayLike<number>)[]} sequences texts, or lists of ids
 * @param {ScanOptions} [options]
 * @returns {Promise<HeadScan>}
 */
export async function scanHeads(model, sequences, options = {}) {
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

/** @param {ScanOptions} options */
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
}) {
  const count = (/** @type {string} */ name, /** @type {number} */ value, from = 1, most = 2 ** 31 - 1) =>
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

/** @param {ScannedOptions} options */
function checkModel({ layers, encoder, input = 'tokens' }) {
  const refuse = (/** @type {string} */ reason) =>
    new HeadlightError('ARGUMENT', `${CALLER}: ${reason}`, { parameter: 'model' });
  if (encoder) throw refuse('this model has an encoder, so one sequence is not a complete input');
  if (input !== 'tokens') throw refuse(`this model reads ${input}, not tokens`);
  if (layers === 0) throw refuse('this model has no blocks and therefore no heads');
}

/**
 * Called with the weights (T,T) of each head of a sequence. Their first element is at the index `start`.
 * @typedef {(sequence: number, layer: number, head: number, weights: Float32Array, start: number) => void} Use
 */

class Scan {
  #model;
  #ids;
  /** Indices of the sequences that are not skipped. */
  #whole;
  #sizes;
  #sums;
  #samples;
  #selector;
  #state;
  /** Visible keys of a query, by layer. @type {Bounds[]} */
  #bounds;

  /**
   * @param {ScannedModel} model
   * @param {Int32Array[]} ids
   * @param {ReturnType<typeof readSizes>} sizes
   * @param {(id: number) => string} nameOf
   */
  constructor(model, ids, sizes, nameOf) {
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

  /** Returns the results so far. */
  results = () => headScanOf(this.#state);

  /** @param {ScanOptions['onProgress']} onProgress @param {AbortSignal} [signal] */
  async run(onProgress, signal) {
    let [done, total] = [0, this.#whole.length];
    /** @param {number[]} sequences @param {(batch: Batch) => Use} useOf */
    const runAll = async (sequences, useOf) => {
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

  /** @param {Batch} batch @returns {Use} */
  #measure({ sequences }) {
    const prepared = new Map(sequences.map((n) => [n, prepare(this.#ids[n])]));
    for (const sequence of prepared.values()) this.#sums.count(sequence);
    return (n, layer, head, weights, start) => {
      const [sequence, bounds] = [/** @type {Prepared} */ (prepared.get(n)), this.#bounds[layer]];
      const max = this.#sums.add(layer, head, weights, start, sequence);
      this.#samples.add(n, this.#indexOf(layer, head), max, () =>
        this.#selector.select(weights, start, sequence.ids.length, bounds),
      );
    };
  }

  /** @param {Map<number, number[]>} missing heads by sequence @returns {Use} */
  #keepMissing(missing) {
    return (n, layer, head, weights, start) => {
      const index = this.#indexOf(layer, head);
      if (!missing.get(n)?.includes(index)) return;
      const rows = this.#selector.select(weights, start, this.#ids[n].length, this.#bounds[layer]);
      this.#samples.addMissing(n, index, rows);
    };
  }

  /** @param {number} layer @param {number} head */
  #indexOf(layer, head) {
    return layer * this.#model.options.numHeads + head;
  }

  /**
   * Runs a batch and calls `use` with the weights of each head of each sequence.
   * @param {Batch} batch
   * @param {Use} use
   */
  #forward({ sequences, length }, use) {
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
