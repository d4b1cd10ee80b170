// Attribution patching: estimates from one gradient the effect that activation patching has on each value.

import { checkOptions, readBoolean } from '../../check/arguments.ts';
import { argumentError, HeadlightError } from '../../check/errors.ts';
import type { ValueName } from '../../models/valueName.ts';
import { type Numbers, requireModel } from '../arrays.ts';
import { type Progress, readSteps } from '../steps.ts';
import {
  checkedFirst,
  checkGradient,
  checkLogits,
  checkPair,
  type DifferentiableModel,
  differentiated,
  type Metric,
  runCaptured,
  runEdited,
} from './pairs.ts';
import { softmaxFix } from './softmaxFix.ts';

export type AttributionPatchingOptions = {
  /**
   * 'blocks.*.heads' (default); 'blocks.*.' and query, key, value or another value with a row for each token; or
   * 'embed'
   */
  at?: ValueName | undefined;
  /** recompute the softmax with the clean query or key (QK fix); only if `at` names queries or keys */
  fix?: boolean | undefined;
  /** return the mean over blocks of the absolute effect estimated without the gradient through that block (GradDrop) */
  drop?: boolean | undefined;
  /** also measure the true effects, with one run for each patched value */
  exact?: boolean | undefined;
  /** a promise is awaited; if it rejects, attributionPatching rejects */
  onProgress?: ((progress: Progress) => unknown) | undefined;
  signal?: AbortSignal | undefined;
};
/**
 * Arrays of values without heads have no axis H, and those of 'embed' only T. At keys and values H counts key heads.
 */
export type AttributionPatching = {
  /** the metric of the clean run */
  clean: number;
  /** the metric of the corrupted run */
  corrupted: number;
  /** (L,H,T): estimates of the effects, metric(patched run) − metric(corrupted run) */
  values: Numbers;
  /** (L,H): estimates of the effects of patching all tokens at once */
  sums: Numbers;
  /** (L,L,H,T), with drop: the estimates without the gradient through each block */
  drops?: Numbers | undefined;
  /** (L,H,T), with exact: the measured effects */
  exact?: Numbers | undefined;
  /** (L,H), with exact: the measured effects of patching all tokens at once */
  exactSums?: Numbers | undefined;
};

const HEADS = /^blocks\.\*\.(cross\.)?(query|key|value|heads)$/;
const ROWS = /^blocks\.\*\.(in|norm1|cross\.norm|norm2|cross\.attention|attention|mid|hidden|mlp|out)$/;
/** Values of the residual stream between blocks. */
const STREAM = /^(embed|blocks\.\*\.(in|out))$/;

/**
 * Estimates, for all values from the same gradient, the effect of replacing one value of the corrupted run by that of
 * the clean run (Nanda 2022, "Attribution Patching"):
 *
 *     effect ≈ (clean value − corrupted value) · ∂metric / ∂value
 *
 * The estimate is wrong where the softmax is saturated and where effects cancel. The option fix corrects the first
 * error, because it recomputes the softmax. The option drop reduces the second, because it averages the absolute values
 * of estimates without the gradient through one block. AtP* is fix and drop together at queries and keys, and drop
 * alone elsewhere (Kramár et al. 2024, "AtP*: An efficient and scalable method for localizing LLM behaviour to
 * components").
 * @param clean an input of forward, one sequence
 * @param corrupted an input with the same number of tokens
 * @param metric with a gradient
 */
export async function attributionPatching(
  model: DifferentiableModel,
  clean: any,
  corrupted: any,
  metric: Metric,
  options: AttributionPatchingOptions = {},
): Promise<AttributionPatching> {
  const caller = 'attributionPatching';
  checkOptions(caller, options, ['at', 'fix', 'drop', 'exact', 'onProgress', 'signal']);
  requireModel(caller, model);
  const steps = readSteps(caller, options);
  const place = readPlace(caller, model, options);
  checkGradient(caller, metric);
  checkLogits(caller, model);
  steps.check();

  const first = await steps.run(() => runCaptured(caller, model, clean, metric, [place.at]));
  const shape = shapeOf(caller, place, first.values);
  const { layers } = model.options;
  const straights = place.drop ? Array.from({ length: layers }, (_, l) => l) : [undefined];
  const runs = place.exact ? sizeOf(shape.values) + sizeOf(shape.sums) : 0;
  const total = 1 + straights.length + runs;
  let done = 0;
  const report = () => steps.report({ done: ++done, total });
  await report();

  let worst = 0;
  const effects: Float64Array[] = [];
  for (const straight of straights) {
    effects.push(
      await steps.run(() => {
        const of = checkedFirst(metric, (result) => checkPair(caller, first.values, result.captured));
        const found = differentiated(caller, model, corrupted, { of, at: place.needed, straight });
        worst = found.value;
        return estimate(model, place, first.values, found);
      }),
    );
    await report();
  }
  const tokens = shape.values[shape.values.length - 1];
  const blocks = STREAM.test(place.at) ? layers : layers - 1;
  const result = {
    clean: first.value,
    corrupted: worst,
    values: numbers(shape.values, place.drop ? meanOfAbsolutes(effects, blocks) : effects[0]),
    sums: numbers(
      shape.sums,
      place.drop
        ? meanOfAbsolutes(
            effects.map((effect) => sumsOver(effect, tokens)),
            blocks,
          )
        : sumsOver(effects[0], tokens),
    ),
    ...(place.drop && {
      drops: numbers(
        [layers, ...shape.values],
        effects.flatMap((effect) => [...effect]),
      ),
    }),
  };
  if (!place.exact) return result;
  const measure = async (form: number[], each: boolean) => {
    const data = new Float64Array(sizeOf(form));
    for (let i = 0; i < data.length; i++) {
      const edit = editAt(place, first.values, form, i, each);
      data[i] = (await steps.run(() => runEdited(caller, model, corrupted, metric, [edit]))) - worst;
      await report();
    }
    return numbers(form, data);
  };
  return { ...result, exact: await measure(shape.values, true), exactSums: await measure(shape.sums, false) };
}

/**
 * at: names by layer; heads: whether they have an axis of heads; needed: names of the values whose gradients are
 * needed.
 */
export type Place = {
  at: string;
  names: string[];
  heads: boolean;
  needed: string[];
  fix: boolean;
  drop: boolean;
  exact: boolean;
};

function readPlace(caller: string, model: DifferentiableModel, options: AttributionPatchingOptions): Place {
  const { at = 'blocks.*.heads' } = options;
  const flag = (name: 'fix' | 'drop' | 'exact') => readBoolean(caller, name, options[name] ?? false);
  const [fix, drop, exact] = [flag('fix'), flag('drop'), flag('exact')];
  const isKnown = typeof at === 'string' && (at === 'embed' || HEADS.test(at) || ROWS.test(at));
  if (!isKnown)
    throw argumentError(caller, 'at', at, "'embed' or the name of a value in every block: 'blocks.*.heads' …");
  const { layers } = model.options;
  if (fix && !/\.(query|key)$/.test(at))
    throw argumentError(caller, 'fix', fix, `false at ${at}, because only queries and keys enter the softmax`);
  if (fix && model.options.disentangled)
    throw argumentError(caller, 'fix', fix, 'false, because disentangled attention sums several products in a score');
  if (drop && layers < 2)
    throw new HeadlightError('ARGUMENT', `${caller}: drop needs at least two blocks, but this model has ${layers}`, {
      parameter: 'drop',
      expected: false,
      got: drop,
    });
  const names = at === 'embed' ? [at] : Array.from({ length: layers }, (_, l) => at.replace('*', String(l)));
  const of = (name: string) => at.replace(/(query|key)$/, name);
  const needed = fix ? ['query', 'key', 'scores', 'weights'].map(of) : [at];
  return { at, names, heads: HEADS.test(at), needed, fix, drop, exact };
}

function shapeOf(caller: string, { at, names, heads }: Place, values: Readonly<Record<string, Numbers>>) {
  const first = values[names[0]];
  if (!first)
    throw new HeadlightError('ARGUMENT', `${caller}: this model has no ${at}`, {
      parameter: 'at',
      got: at,
    });
  const outer = at === 'embed' ? [] : [names.length];
  const inner = heads ? [first.shape[1]] : [];
  return { values: [...outer, ...inner, first.shape[first.shape.length - 2]], sums: [...outer, ...inner] };
}

const sizeOf = (shape: readonly number[]) => shape.reduce((a, b) => a * b, 1);

const numbers = (shape: number[], data: ArrayLike<number>): Numbers => ({ data: Float32Array.from(data), shape });

/** Returns the estimated effects of all patched values, as one list in the order of layers, heads and tokens. */
function estimate(
  model: DifferentiableModel,
  { names, fix }: Place,
  clean: Readonly<Record<string, Numbers>>,
  corrupted: ReturnType<typeof differentiated>,
) {
  const layers = names.map((name, l) => {
    if (fix) return softmaxFix(model, l, name, clean[name], corrupted);
    const [from, to, gradient] = [corrupted.values[name], clean[name], corrupted.gradients[name]];
    const width = from.shape[from.shape.length - 1];
    const effects = new Float64Array(from.data.length / width);
    for (let i = 0; i < effects.length; i++)
      for (let c = i * width; c < (i + 1) * width; c++) effects[i] += (to.data[c] - from.data[c]) * gradient.data[c];
    return effects;
  });
  return Float64Array.from(layers.flatMap((effects) => [...effects]));
}

const sumsOver = (values: Float64Array, count: number) =>
  Float64Array.from({ length: count === 0 ? 0 : values.length / count }, (_, i) =>
    values.subarray(i * count, (i + 1) * count).reduce((a, b) => a + b, 0),
  );

const meanOfAbsolutes = (lists: Float64Array[], divisor: number) =>
  lists[0].map((_, i) => lists.reduce((sum, list) => sum + Math.abs(list[i]), 0) / divisor);

/**
 * Sets one value of the corrupted run to its clean value. index: in an array of this shape; each: one token, not all.
 */
function editAt(
  { names, heads }: Place,
  values: Readonly<Record<string, Numbers>>,
  shape: readonly number[],
  index: number,
  each: boolean,
) {
  const tokens = each ? shape[shape.length - 1] : 1;
  const [token, row] = [index % tokens, Math.floor(index / tokens)];
  const count = heads ? values[names[0]].shape[1] : 1;
  const at = names[Math.floor(row / count)];
  return { at, ...(heads && { head: row % count }), ...(each && { token }), set: values[at] };
}
