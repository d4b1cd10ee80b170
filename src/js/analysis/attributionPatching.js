// Attribution patching: estimates from one gradient the effect that activation patching has on each value.

import { checkOptions, readBoolean } from '../check/arguments.js';
import { argumentError, HeadlightError } from '../check/errors.js';
import { requireModel } from './arrays.js';
import {
  checkedFirst,
  checkGradient,
  checkLogits,
  checkPair,
  differentiated,
  runCaptured,
  runEdited,
} from './pairs.js';
import { softmaxFix } from './softmaxFix.js';
import { readSteps } from './steps.js';

/** @import { Numbers } from './arrays.js' */
/** @import { DifferentiableModel, Metric } from './pairs.js' */
/** @import { Progress } from './steps.js' */
/** @import { ValueName } from '../models/valueName.js' */

/**
 * @typedef {object} AttributionPatchingOptions
 * @property {ValueName} [at] name of the patched values: 'blocks.*.heads' (default); 'blocks.*.' followed by query,
 *   key,
 *   value or the name of another value with one row for each token; or 'embed'
 * @property {boolean} [fix] recompute the softmax with the clean query or key (QK fix); only if `at` names queries or
 *   keys
 * @property {boolean} [drop] return the mean, over all blocks, of the absolute effect estimated without the gradient
 *   through that block (GradDrop)
 * @property {boolean} [exact] also measure the true effects, with one run for each patched value
 * @property {(progress: Progress) => unknown} [onProgress] a promise is awaited; if it rejects, attributionPatching
 *   rejects
 * @property {AbortSignal} [signal]
 */
/**
 * T is the number of tokens, L the number of layers, H the number of heads (of key heads for keys and values). Arrays
 * of values without heads have no axis H, and those of 'embed' have only the axis T.
 * @typedef {object} AttributionPatching
 * @property {number} clean the metric of the clean run
 * @property {number} corrupted the metric of the corrupted run
 * @property {Numbers} values (L,H,T): estimates of the effects, metric(patched run) − metric(corrupted run)
 * @property {Numbers} sums (L,H): estimates of the effects of patching all tokens at once
 * @property {Numbers} [drops] (L,L,H,T), with drop: the estimates without the gradient through each block
 * @property {Numbers} [exact] (L,H,T), with exact: the measured effects
 * @property {Numbers} [exactSums] (L,H), with exact: the measured effects of patching all tokens at once
 */

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
 *
 * @param {DifferentiableModel} model
 * @param {any} clean an input of forward, one sequence
 * @param {any} corrupted an input with the same number of tokens
 * @param {Metric} metric with a gradient
 * @param {AttributionPatchingOptions} [options]
 * @returns {Promise<AttributionPatching>}
 */
export async function attributionPatching(model, clean, corrupted, metric, options = {}) {
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
  /** @type {Float64Array[]} */
  const effects = [];
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
  const measure = async (/** @type {number[]} */ form, /** @type {boolean} */ each) => {
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
 * The patched values. names: their names, by layer; heads: true if they have an axis of heads; needed: names of the
 * values whose gradients are needed.
 * @typedef {{ at: string, names: string[], heads: boolean, needed: string[], fix: boolean, drop: boolean,
 *   exact: boolean }} Place
 */

/**
 * @param {string} caller
 * @param {DifferentiableModel} model
 * @param {AttributionPatchingOptions} options
 * @returns {Place}
 */
function readPlace(caller, model, options) {
  const { at = 'blocks.*.heads' } = options;
  const flag = (/** @type {'fix' | 'drop' | 'exact'} */ name) => readBoolean(caller, name, options[name] ?? false);
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
  const of = (/** @type {string} */ name) => at.replace(/(query|key)$/, name);
  const needed = fix ? ['query', 'key', 'scores', 'weights'].map(of) : [at];
  return { at, names, heads: HEADS.test(at), needed, fix, drop, exact };
}

/** @param {string} caller @param {Place} place @param {Readonly<Record<string, Numbers>>} values */
function shapeOf(caller, { at, names, heads }, values) {
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

const sizeOf = (/** @type {readonly number[]} */ shape) => shape.reduce((a, b) => a * b, 1);

/** @param {number[]} shape @param {ArrayLike<number>} data @returns {Numbers} */
const numbers = (shape, data) => ({ data: Float32Array.from(data), shape });

/**
 * Returns the estimated effects of all patched values, as one list in the order of layers, heads and tokens.
 * @param {DifferentiableModel} model
 * @param {Place} place
 * @param {Readonly<Record<string, Numbers>>} clean
 * @param {ReturnType<typeof differentiated>} corrupted
 */
function estimate(model, { names, fix }, clean, corrupted) {
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

/** Returns the sums of consecutive groups of `count` values. @param {Float64Array} values @param {number} count */
const sumsOver = (values, count) =>
  Float64Array.from({ length: count === 0 ? 0 : values.length / count }, (_, i) =>
    values.subarray(i * count, (i + 1) * count).reduce((a, b) => a + b, 0),
  );

/** @param {Float64Array[]} lists @param {number} divisor */
const meanOfAbsolutes = (lists, divisor) =>
  lists[0].map((_, i) => lists.reduce((sum, list) => sum + Math.abs(list[i]), 0) / divisor);

/**
 * Returns the edit that sets one value of the corrupted run to its clean value.
 * @param {Place} place
 * @param {Readonly<Record<string, Numbers>>} values
 * @param {readonly number[]} shape
 * @param {number} index in an array of this shape
 * @param {boolean} each true: one token, false: all tokens
 */
function editAt({ names, heads }, values, shape, index, each) {
  const tokens = each ? shape[shape.length - 1] : 1;
  const [token, row] = [index % tokens, Math.floor(index / tokens)];
  const count = heads ? values[names[0]].shape[1] : 1;
  const at = names[Math.floor(row / count)];
  return { at, ...(heads && { head: row % count }), ...(each && { token }), set: values[at] };
}
