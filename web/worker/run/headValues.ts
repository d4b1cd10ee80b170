// Copies the queries, keys, values and scores of one head out of a run, and lists the steps from products to scores.

import { parametersOf, scaleRows } from '../../../src/js/analysis/arrays.ts';
import { headOf, normOf, statisticsOf } from '../../../src/js/analysis/head.ts';
import { stackAt } from '../../model/forwardEdits.ts';
import type { TransformerSource } from '../sources/types.ts';
import { topLabel } from './predictions.ts';
import type { Values } from './runModel.ts';
import { optionsOf, sinkOf, stepsOf } from './scoreSteps.ts';

/** Maximum logits of a run in which the likeliest label of every token is searched. The search takes about 0.1 s. */
const MAX_LOGITS = 2 ** 23;

export type ChosenHead = {
  layer: number;
  head: number;
  /** the label that is followed */
  chosen: number | null;
  /** of an encoder–decoder */
  part?: string;
  /** of this head */
  temperature?: number;
};

/**
 * Returns the numbers of a head. A key's contribution to the logit of label t in `labels` is the product of row t of
 * `directions` (T,D) with its value, times the weight of query t on it. The sum is the head's attribution.
 */
export function headValues(
  source: TransformerSource,
  values: Values,
  { layer, head, chosen, part = 'decoder', temperature = 1 }: ChosenHead,
) {
  const { captured } = values;
  const inside = values.inside ?? captured;
  const { numHeads, headDim } = optionsOf(source.model, part);
  const take = (name: string) => {
    const { data, shape } = inside[`${stackAt(part, layer)}${name}`];
    const size = shape[2] * shape[3];
    if (values.inside && data.length === size) return data;
    // Several query heads may share one head of keys and values.
    const h = Math.floor(head / (numHeads / shape[1]));
    return data.slice(h * size, (h + 1) * size);
  };
  const [, , T, S] = inside[`${stackAt(part, layer)}scores`].shape;
  const place = { part, layer, head, T, S, temperature };
  const own = { query: take('query'), key: take('key'), scores: take('scores') };
  // If there are too many logits to find the likeliest label of every token, only the chosen label is followed.
  const follows = source.exact && part !== 'encoder';
  const all = follows && T * (values.logits?.shape[2] ?? Number.POSITIVE_INFINITY) <= MAX_LOGITS;
  const labels = Array.from({ length: T }, (_, t) =>
    t === T - 1 && chosen !== null ? chosen : all ? topLabel(values, t) : -1,
  );
  return {
    layer,
    head,
    width: headDim,
    ...own,
    value: take('value'),
    steps: stepsOf(source.model, place, own),
    sink: sinkOf(source.model, place),
    ...unseenOf(captured, stackAt(part, layer), head, T),
    mixture: take('heads'),
    labels,
    directions: follows ? directionsOf(source, values, { part, layer, head }, labels) : null,
  };
}

/** Returns, for each query of a head, the sums over the keys that are not shown; no fields if all keys are shown. */
function unseenOf(captured: Values['captured'], at: string, head: number, T: number) {
  const [rest, unseen] = ['rest', 'unseen'].map((name) => captured[at + name]?.data.slice(head * T, (head + 1) * T));
  return rest && unseen ? { rest, unseen } : {};
}

/** Computes `directions` of headValues; null for models without a single norm at the end of the residual stream. */
function directionsOf(
  { model, about: { layers, width } }: TransformerSource,
  { captured, inside = captured }: Values,
  { part, layer, head }: { part: string; layer: number; head: number },
  labels: number[],
) {
  if ((model.options.normPlace ?? 'before') !== 'before') return null;
  const caller = 'directions';
  const out = headOf(caller, model);
  const norm = normOf(caller, model, 'norm');
  const last = inside[`blocks.${layers - 1}.out`];
  const C = last.shape[2];
  const { residualScale = 1 } = model.options;
  const { matrix, vector } = parametersOf(caller, model);
  const { data, shape } =
    part === 'cross'
      ? matrix(`blocks.${layer}.cross.wo`)
      : scaleRows(matrix(`blocks.${layer}.attention.wo`), vector(`blocks.${layer}.scale1`));
  const found = new Float32Array(labels.length * width);
  labels.forEach((label, t) => {
    if (label < 0) return found.fill(Number.NaN, t * width, (t + 1) * width);
    const { row } = out.direction(label);
    const x = Float64Array.from(last.data.subarray(t * C, (t + 1) * C));
    const { rstd } = norm ? statisticsOf(model, x) : { rstd: 1 };
    const along = row.map((u, c) => u * (norm ? norm.weight[c] * rstd : 1) * residualScale);
    // A norm that subtracts the mean subtracts it from the direction as well.
    const mean = norm && model.options.norm !== 'rms' ? along.reduce((sum, u) => sum + u, 0) / C : 0;
    for (let c = 0; c < C; c++)
      for (let d = 0; d < width; d++) found[t * width + d] += (along[c] - mean) * data[c * shape[1] + head * width + d];
  });
  return found;
}
