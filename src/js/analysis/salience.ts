// Salience: how much a metric depends on the embedding of each token.

import { checkOptions, readNumber, readWord } from '../check/arguments.ts';
import { HeadlightError, shapeError } from '../check/errors.ts';
import { formatShape } from '../check/shape.ts';
import type { TensorLike } from '../check/tensorlike.ts';
import { type ReadInput, readInput } from '../models/input.ts';
import type { Resolved } from '../models/options.ts';
import { type Numbers, readArray } from './arrays.ts';
import {
  checkGradient,
  copyAll,
  type DifferentiableModel,
  differentiated,
  type Metric,
  measured,
  type PatchEdit,
  runCaptured,
  runEdited,
} from './patching/pairs.ts';
import { type Progress, readSteps } from './steps.ts';

export type SalienceModel = DifferentiableModel & {
  options: { vocab?: number | undefined };
  config?: Record<string, any> | undefined;
  encode(text: string): { ids: readonly number[]; typeIds: readonly number[] };
};
export type SalienceMethod = 'gradient' | 'norm' | 'integrated';
export type SalienceOptions<M extends SalienceMethod = SalienceMethod> = {
  /** default 'gradient' */
  method?: M | undefined;
  /** start of the path of 'integrated': zeros, the embedding of padding tokens, or embeddings (T,C); default 'zero' */
  baseline?: 'zero' | 'padding' | (string & {}) | TensorLike | undefined;
  /** label of the padding token; default: pad_token_id of the model's config */
  padding?: number | undefined;
  /** number of gradients of 'integrated'; default 32 */
  steps?: number | undefined;
  /** point of each step at which the gradient is taken; default 'middle' */
  rule?: 'middle' | 'right' | undefined;
  /** called after each gradient; a promise is awaited, and if it rejects, so does salience */
  onProgress?: ((progress: Progress) => unknown) | undefined;
  signal?: AbortSignal | undefined;
};
export type Salience = {
  value: number;
  /** (T), or (B,T) for a batch */
  tokens: Numbers;
  /** sum over all tokens */
  sum: number;
};
/** The result of the method 'integrated'. */
export type IntegratedSalience = {
  value: number;
  /** the metric at the baseline */
  baseline: number;
  /** (T), or (B,T) for a batch */
  tokens: Numbers;
  /** sum over all tokens */
  sum: number;
  /**
   * (value − baseline) − sum: what the tokens do not explain. If it is large, their values are unreliable; use more
   * steps
   */
  gap: number;
};

/**
 * Computes the share of each token in a metric (Simonyan et al. 2014, "Deep Inside Convolutional Networks";
 * Sundararajan et al. 2017, "Axiomatic Attribution for Deep Networks"), from e, the value `embed`, and g, the gradient
 * of the metric:
 *
 *     gradient     Σ e·g over channels
 *     norm         ‖g‖
 *     integrated   Σ (e − e⁰) · the mean of g at e⁰ + a·(e − e⁰), for `steps` numbers a from 0 to 1
 *
 * Zeros are a poor baseline e⁰ before a norm, whose gradient is very large there, which makes `gap` large.
 * @param input of forward
 * @param metric with a gradient, such as logitDifference
 */
export async function salience<M extends SalienceMethod = 'gradient'>(
  model: SalienceModel,
  input: any,
  metric: Metric,
  options: SalienceOptions<M> = {},
): Promise<M extends 'integrated' ? IntegratedSalience : Salience> {
  return (await computeSalience(model, input, metric, options)) as any;
}

async function computeSalience(
  model: SalienceModel,
  input: any,
  metric: Metric,
  options: SalienceOptions,
): Promise<Salience | IntegratedSalience> {
  const caller = 'salience';
  const known = ['method', 'baseline', 'padding', 'steps', 'rule', 'onProgress', 'signal'];
  checkOptions(caller, options, known);
  const { method = 'gradient', rule = 'middle', steps: count = 32 } = options;
  const steps = readSteps(caller, options);
  readWord(caller, 'method', method, ['gradient', 'norm', 'integrated']);
  readWord(caller, 'rule', rule, ['middle', 'right']);
  readNumber(caller, 'steps', count, { integer: true, least: 1 });
  checkGradient(caller, metric);
  if (model.options.head === 'none')
    throw new HeadlightError('ARGUMENT', `${caller}: this model has no head and therefore no logits`, {
      parameter: 'model',
      expected: 'a model with logits',
    });
  const read = readInput(caller, model.options as Resolved, input, (text) => model.encode(text));
  steps.check();

  const gradientAt = (...edit: PatchEdit[]) => {
    const { value, values, gradients } = differentiated(caller, model, input, { of: metric, at: ['embed'], edit });
    return { value, e: values.embed, g: gradients.embed.data };
  };
  if (method !== 'integrated') {
    const { value, e, g } = gradientAt();
    await steps.report({ done: 1, total: 1 });
    const factors = method === 'norm' ? g : e.data;
    const sums = sumChannels(e, (i) => factors[i] * g[i]);
    return summed(value, read, e, method === 'norm' ? sums.map(Math.sqrt) : sums);
  }
  const { value, values } = runCaptured(caller, model, input, metric, ['embed']);
  const e = values.embed;
  const start = readBaseline(caller, model, read, options, e);
  const path = (a: number) => ({ at: 'embed', set: between(start, e, a) });
  const baseline = runEdited(caller, model, input, metric, [path(0)]);
  const mean = new Float64Array(e.data.length);
  for (let k = 1; k <= count; k++) {
    const { g } = await steps.run(() => gradientAt(path((rule === 'right' ? k : k - 0.5) / count)));
    for (let i = 0; i < mean.length; i++) mean[i] += g[i] / count;
    await steps.report({ done: k, total: count });
  }
  const sums = sumChannels(e, (i) => (e.data[i] - start[i]) * mean[i]);
  const result = summed(value, read, e, sums);
  return { ...result, baseline, gap: value - baseline - result.sum };
}

/** Returns the embeddings at which the path begins, (B,T,C). */
function readBaseline(
  caller: string,
  model: SalienceModel,
  read: ReadInput,
  { baseline = 'zero', padding }: SalienceOptions,
  { data, shape }: Numbers,
): Float32Array {
  if (typeof baseline === 'string') {
    const word = readWord(caller, 'baseline', baseline, ['zero', 'padding']);
    return word === 'zero' ? new Float32Array(data.length) : paddingOf(caller, model, read, padding);
  }
  const { floats, shape: given } = readArray(caller, 'baseline', baseline, 'TC', 'BTC');
  if (String(given) !== String(shape.slice(-given.length)))
    throw shapeError(caller, 'baseline', given, `${formatShape(shape.slice(1))}, the shape of embed`);
  return Float32Array.from(data, (_, i) => floats[i % floats.length]);
}

/** Returns the embeddings of padding tokens, as many as the input has tokens. given: label of the padding token. */
function paddingOf(
  caller: string,
  model: SalienceModel,
  { batch, rows, labels, typeIds, positions, encoder }: ReadInput,
  given?: number,
) {
  if (!labels || encoder)
    throw new HeadlightError('ARGUMENT', `${caller}: the baseline 'padding' requires an input of tokens only`, {
      parameter: 'baseline',
    });
  const padding = given ?? model.config?.pad_token_id;
  if (padding === undefined || padding === null)
    throw new HeadlightError(
      'ARGUMENT',
      `${caller}: the config of this model has no pad_token_id, so the option padding must be set`,
      {
        parameter: 'padding',
      },
    );
  const { vocab = 0 } = model.options;
  readNumber(caller, 'padding', padding, { integer: true, least: 0, most: vocab - 1 });
  const shape = [batch, rows];
  const input = {
    ids: { data: new Int32Array(labels.length).fill(padding), shape },
    ...(typeIds && { typeIds: { data: typeIds, shape } }),
    ...(positions && { positions: { data: positions, shape } }),
  };
  const run = model.forward(input, { capture: ['embed'] });
  return measured(run, ({ captured }) => copyAll(caller, captured)).embed.data;
}

/** Returns from + a·(to − from). */
const between = (from: Float32Array, { data, shape }: Numbers, a: number): Numbers => ({
  data: from.map((x, i) => x + a * (data[i] - x)),
  shape,
});

/** Sums terms over channels. Returns (B·T). e: (B,T,C). */
function sumChannels({ shape: [batch, rows, width] }: Numbers, term: (i: number) => number) {
  const sums = new Float64Array(batch * rows);
  for (let i = 0; i < sums.length * width; i++) sums[Math.floor(i / width)] += term(i);
  return sums;
}

function summed(
  value: number,
  { batched }: ReadInput,
  { shape: [batch, rows] }: Numbers,
  sums: Float64Array,
): Salience {
  const shape = batched ? [batch, rows] : [rows];
  return { value, tokens: { data: Float32Array.from(sums), shape }, sum: sums.reduce((a, x) => a + x, 0) };
}
