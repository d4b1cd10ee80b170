// The logit lens: the logits that the model would return if it ended after each block.

import { checkOptions, readNumber } from '../../check/arguments.ts';
import { argumentError } from '../../check/errors.ts';
import { type Model, type Result, readCaptured, readIndex, requireModel } from '../arrays.ts';
import { headOf, normOf, statisticsOf } from '../head.ts';

export type LensOptions = {
  /** indices of tokens; default −1, the last */
  token?: number | readonly number[] | undefined;
  /** default 0 */
  batch?: number | undefined;
  /** number of labels to return, which are those with the highest logits; default 5 */
  top?: number | undefined;
  /** other labels to include */
  labels?: readonly number[] | undefined;
};
/** A predicted label. rank is 0 for the most likely label. */
export type Guess = { label: number; logit: number; probability: number; rank: number };
export type LensLayer = {
  at: string;
  tokens: { token: number; top: Guess[]; labels: Guess[] }[];
};

/**
 * Computes the logit lens (nostalgebraist 2020, "interpreting GPT: the logit lens"): the prediction of the model if it
 * ended after each block,
 *
 *     softmax(head(norm(xₗ)))     x₋₁: the embedding, xₗ: the output of block l, norm: the final norm
 * @param result of forward with capture: ['embed', 'blocks.*.out']
 * @returns the embedding, then every block
 */
export function logitLens(model: Model, result: Result, options: LensOptions = {}): LensLayer[] {
  requireModel('logitLens', model);
  const names = ['embed', ...Array.from({ length: model.options.layers }, (_, l) => `blocks.${l}.out`)];
  const stages = names.map((at) => ({ at, transport: (x: Float64Array) => x }));
  return readStages('logitLens', model, result, ['embed', 'blocks.*.out'], stages, options);
}

/** transport: maps a value (C) of the residual stream to the final residual stream. */
export type Stage = { at: string; transport: (x: Float64Array) => Float64Array };

/** Returns what the final norm and the head predict. needed: names of values that must be captured, for errors. */
export function readStages(
  caller: string,
  model: Model,
  result: Result,
  needed: readonly string[],
  stages: readonly Stage[],
  options: LensOptions,
): LensLayer[] {
  requireModel(caller, model);
  checkOptions(caller, options, ['token', 'batch', 'top', 'labels']);
  const { batch = 0, top = 5, labels = [] } = options;
  const given = options.token ?? (model.options.head === 'pooled' ? 0 : -1);
  const head = headOf(caller, model);
  const norm = normOf(caller, model, 'norm');
  readNumber(caller, 'top', top, { integer: true, least: 0 });
  if (!Array.isArray(labels)) throw argumentError(caller, 'labels', labels, 'a list of labels');
  for (const label of labels) readNumber(caller, 'labels', label, { integer: true, least: 0, most: head.classes - 1 });
  return stages.map(({ at, transport }) => {
    const { floats, shape } = readCaptured(caller, result, at, 'BTC', needed);
    const b = readIndex(caller, 'batch', batch, shape[0]);
    const rows = (typeof given === 'number' ? [given] : given).map((t) => readIndex(caller, 'token', t, shape[1]));
    const tokens = rows.map((token) => {
      const start = (b * shape[1] + token) * shape[2];
      const x = transport(Float64Array.from(floats.subarray(start, start + shape[2])));
      const { mean, rstd } = statisticsOf(model, x);
      const final = norm ? x.map((v, c) => (v - mean) * rstd * norm.weight[c] + (norm.bias?.[c] ?? 0)) : x;
      return { token, ...guess(head.logits(final), top, labels) };
    });
    return { at, tokens };
  });
}

function guess(logits: Float64Array, top: number, labels: readonly number[]) {
  const max = logits.reduce((a, x) => Math.max(a, x), -Infinity);
  const sum = logits.reduce((a, x) => a + Math.exp(x - max), 0);
  const of = (label: number): Guess => ({
    label,
    logit: logits[label],
    probability: Math.exp(logits[label] - max) / sum,
    rank: logits.reduce((higher, x) => higher + Number(x > logits[label]), 0),
  });
  return { top: likeliest(logits, top).map(of), labels: labels.map(of) };
}

/** logits: (V); returns labels */
function likeliest(logits: Float64Array, count: number): number[] {
  const found: number[] = [];
  while (found.length < Math.min(count, logits.length)) {
    let best = -1;
    for (let label = 0; label < logits.length; label++)
      if (!(logits[label] <= logits[best]) && !found.includes(label)) best = label;
    found.push(best);
  }
  return found;
}
