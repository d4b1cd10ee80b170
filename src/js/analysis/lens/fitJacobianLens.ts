// Measures a Jacobian lens: the mean gradient of the output of a late block with respect to the outputs of earlier
// blocks.

import { checkOptions, readNumber } from '../../check/arguments.ts';
import { argumentError, HeadlightError } from '../../check/errors.ts';
import { quote } from '../../check/quote.ts';
import { requireModel } from '../arrays.ts';
import { type DifferentiableModel, differentiated } from '../patching/pairs.ts';
import { type Progress, readSteps } from '../steps.ts';
import { type JacobianLens, makeLens } from './jacobianLens.ts';

export type LensModel = DifferentiableModel & {
  options: { vocab?: number | undefined; context?: number; input?: string | undefined };
  encode(text: string): { ids: readonly number[] };
};
export type FitLensOptions = {
  /** blocks whose outputs the lens reads; default: all blocks before target */
  layers?: readonly number[] | undefined;
  /** the block whose output is differentiated; default: the last */
  target?: number | undefined;
  /** number of first tokens that are left out, because many heads attend to them; default 16 */
  skip?: number | undefined;
  /** number of tokens to which sequences are truncated; default 128 */
  length?: number | undefined;
  /** number of output channels that one run differentiates; default: as many as fit in about 256 MB, at most 64 */
  batch?: number | undefined;
  /** stop when a sequence changes the mean matrices by less than this share of their norm */
  until?: number | undefined;
  /** called after each sequence; a promise is awaited, and if it rejects, so does fitJacobianLens */
  onProgress?: ((progress: FitLensProgress) => unknown) | undefined;
  /** called after each run and awaited in the same way; a sequence takes one run for every `batch` channels */
  onRun?: ((progress: Progress) => unknown) | undefined;
  signal?: AbortSignal | undefined;
};
/**
 * done: finished sequences; total: sequences that are long enough; change: of the mean by the last, relative, NaN at
 * first.
 */
export type FitLensProgress = { done: number; total: number; change: number };
export type Fit = {
  layers: number[];
  target: number;
  skip: number;
  length: number;
  width: number;
  batch?: number | undefined;
};
export type Squares = { changed: number; size: number };

const OPTIONS = ['layers', 'target', 'skip', 'length', 'batch', 'until', 'onProgress', 'onRun', 'signal'];
/** Bytes of the values of one run, and the largest number of its channels. More channels are no faster. */
const [MAX_BYTES, MAX_BATCH] = [2 ** 28, 64];

/**
 * Fits the Jacobian lens (Anthropic 2026, "Verbalizable Workspace"): for each layer the matrix
 *
 *     J[i,j] = mean over p of Σ over p′ of ∂y(p′)ᵢ / ∂h(p)ⱼ     h: output of the layer, y: output of block `target`
 *
 * over the tokens p and p′ of a sequence from `skip` to the last but one, and averages these matrices over all
 * sequences. A sequence takes a forward and a backward pass for each channel.
 * @param sequences texts, or lists of labels; those of fewer than skip + 2 tokens are left out
 */
export async function fitJacobianLens(
  model: LensModel,
  sequences: readonly (string | ArrayLike<number>)[],
  options: FitLensOptions = {},
): Promise<JacobianLens> {
  const caller = 'fitJacobianLens';
  requireModel(caller, model);
  const fit = readFit(caller, model, options);
  const { until = 0, onRun } = options;
  const steps = readSteps(caller, options);
  readNumber(caller, 'until', until, { least: 0 });
  if (onRun !== undefined && typeof onRun !== 'function') throw argumentError(caller, 'onRun', onRun, 'a function');
  const used = readSequences(caller, model, sequences, fit);
  const batches = used.map(({ length }) => fit.batch ?? defaultBatch(model, length));
  const total = batches.reduce((sum, batch) => sum + Math.ceil(fit.width / batch), 0);
  const matrices = new Map(fit.layers.map((layer) => [layer, new Float32Array(fit.width ** 2)]));
  const changes: number[] = [];
  let done = 0;
  for (const [n, ids] of used.entries()) {
    const squares = fit.layers.map(() => ({ changed: 0, size: 0 }));
    for (let channel = 0; channel < fit.width; channel += batches[n]) {
      const count = Math.min(batches[n], fit.width - channel);
      const rows = await steps.run(() => rowsOf(caller, model, fit, ids, channel, count));
      for (const [l, layer] of fit.layers.entries())
        addRows(matrices.get(layer) as Float32Array, channel * fit.width, rows[l], n + 1, squares[l]);
      await onRun?.({ done: ++done, total });
    }
    const change = n === 0 ? Number.NaN : meanChange(squares);
    changes.push(change);
    await steps.report({ done: n + 1, total: used.length, change });
    if (change < until) break;
  }
  return makeLens({ layers: fit.layers, matrices, prompts: changes.length, width: fit.width }, changes);
}

/** Computes rows (count,C) of each layer's matrix for the labels (T) of one sequence. channel: the first row. */
function rowsOf(
  caller: string,
  model: LensModel,
  { layers, target, skip, width }: Fit,
  ids: Int32Array,
  channel: number,
  count: number,
): Float64Array[] {
  const tokens = ids.length;
  const cotangent = new Float32Array(count * tokens * width);
  const repeated = new Int32Array(count * tokens);
  for (let row = 0; row < count; row++) {
    repeated.set(ids, row * tokens);
    for (let p = skip; p < tokens - 1; p++) cotangent[(row * tokens + p) * width + channel + row] = 1;
  }
  const names = layers.map((layer) => `blocks.${layer}.out`);
  const of = { [`blocks.${target}.out`]: { data: cotangent, shape: [count, tokens, width] } };
  const input = { ids: { data: repeated, shape: [count, tokens] } };
  const { gradients } = differentiated(caller, model, input, { of, at: names });
  return names.map((name) => meanOverTokens(gradients[name].data, { count, tokens, width, skip }));
}

/** gradient: (count,T,C); returns (count,C), the mean over the tokens from skip to the last but one */
function meanOverTokens(
  gradient: Float32Array,
  { count, tokens, width, skip }: { count: number; tokens: number; width: number; skip: number },
): Float64Array {
  const mean = new Float64Array(count * width);
  for (let row = 0; row < count; row++)
    for (let p = skip; p < tokens - 1; p++) {
      const start = (row * tokens + p) * width;
      for (let j = 0; j < width; j++) mean[row * width + j] += gradient[start + j];
    }
  return mean.map((sum) => sum / (tokens - 1 - skip));
}

/**
 * Updates rows of the mean over n sequences with those of the n-th. start: of the rows; squares: sums to which this
 * change is added.
 */
function addRows(mean: Float32Array, start: number, rows: Float64Array, n: number, squares: Squares) {
  for (let i = 0; i < rows.length; i++) {
    const before = mean[start + i];
    mean[start + i] = before + (rows[i] - before) / n;
    squares.changed += (mean[start + i] - before) ** 2;
    squares.size += mean[start + i] ** 2;
  }
}

/** Returns the mean over layers of ‖change‖ / ‖J‖, which is 0 where both norms are 0. */
const meanChange = (squares: readonly Squares[]) =>
  squares.reduce((sum, { changed, size }) => sum + (changed === 0 ? 0 : Math.sqrt(changed / size)), 0) / squares.length;

function readFit(caller: string, model: LensModel, options: FitLensOptions): Fit {
  checkOptions(caller, options, OPTIONS);
  const { layers: blocks, dModel: width, cross, input = 'tokens' } = model.options;
  for (const [cause, found] of Object.entries({ 'has an encoder': cross, 'does not read tokens': input !== 'tokens' }))
    if (found)
      throw new HeadlightError(
        'ARGUMENT',
        `${caller}: this model ${cause}, expected a model that reads one sequence of tokens`,
        {
          parameter: 'model',
        },
      );
  const { target = blocks - 1, skip = 16, length = 128, batch } = options;
  const integer = { integer: true, least: 0 };
  if (blocks < 2)
    throw new HeadlightError('ARGUMENT', `${caller}: this model has ${blocks} blocks, so none is before the last`, {
      parameter: 'model',
    });
  readNumber(caller, 'target', target, { integer: true, least: 1, most: blocks - 1 });
  readNumber(caller, 'skip', skip, integer);
  readNumber(caller, 'length', length, { integer: true, least: skip + 2 });
  if (batch !== undefined) readNumber(caller, 'batch', batch, { integer: true, least: 1 });
  const { layers = Array.from({ length: target }, (_, l) => l) } = options;
  if (!Array.isArray(layers) || layers.length === 0)
    throw argumentError(caller, 'layers', layers, 'a list of layers, one at least');
  for (const layer of layers) readNumber(caller, 'layers', layer, { ...integer, most: target - 1 });
  const sorted = [...new Set(layers)].sort((a, b) => a - b);
  return { layers: sorted, target, skip, length, width, batch };
}

function readSequences(
  caller: string,
  model: LensModel,
  sequences: readonly (string | ArrayLike<number>)[],
  { skip, length }: Fit,
): Int32Array[] {
  if (!Array.isArray(sequences) || sequences.length === 0)
    throw argumentError(
      caller,
      'sequences',
      sequences,
      'a list with at least one sequence, each a text or a list of token ids',
    );
  const { vocab = 0, context = Infinity } = model.options;
  const used = sequences.flatMap((given, i) => {
    const ids = typeof given === 'string' ? model.encode(given).ids : given;
    const all = Array.isArray(ids) || ArrayBuffer.isView(ids) ? Array.from(ids as number[]) : undefined;
    if (!all?.every((id) => Number.isSafeInteger(id) && id >= 0 && id < vocab))
      throw new HeadlightError(
        'ARGUMENT',
        `${caller}: sequences[${i}] is ${quote(given)}, expected a text or token ids from 0 to ${vocab - 1}`,
        { parameter: 'sequences', expected: vocab, got: given },
      );
    const truncated = all.slice(0, Math.min(length, context));
    return truncated.length < skip + 2 ? [] : [Int32Array.from(truncated)];
  });
  if (used.length > 0) return used;
  throw new HeadlightError('ARGUMENT', `${caller}: no sequence has ${skip + 2} tokens, the minimum with skip ${skip}`, {
    parameter: 'sequences',
    expected: `${skip + 2} tokens`,
  });
}

/**
 * Returns the number of channels for which a run takes about MAX_BYTES. For each token, a block has about ten vectors
 * of width C, three of the width of the feed-forward layer, a row of weights for each head, and as many gradients.
 */
function defaultBatch({ options: { layers, dModel, numHeads, mlp = 4 * dModel } }: LensModel, tokens: number) {
  const bytes = 4 * tokens * layers * 2 * (10 * dModel + 3 * mlp + numHeads * tokens);
  return Math.min(MAX_BATCH, dModel, Math.max(1, Math.floor(MAX_BYTES / bytes)));
}
