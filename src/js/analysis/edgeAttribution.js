// Edge attribution patching: estimates the effect of every edge of a transformer's graph from a few gradients.

import { checkOptions, readBoolean, readNumber, readWord } from '../check/arguments.js';
import { addMean, between, estimate, placesOf, RULES, sharesOf } from './edgeScores.js';
import { contributionsOf, edgesOf, inputOf } from './edges.js';
import {
  checkedFirst,
  checkGradient,
  checkLogits,
  checkPair,
  differentiated,
  runCaptured,
  runEdited,
} from './pairs.js';
import { readSteps } from './steps.js';

/** @import { Numbers } from './arrays.js' */
/** @import { Node } from './edges.js' */
/** @import { Rule } from './edgeScores.js' */
/** @import { DifferentiableModel, Metric } from './pairs.js' */
/** @import { Progress } from './steps.js' */

/**
 * @typedef {object} EdgeAttributionOptions
 * @property {number} [steps] number of points between the corrupted and the clean run at which the gradient is computed
 *   (EAP-IG); default 0, which means a single gradient in the corrupted run (EAP)
 * @property {Rule} [rule] point of each step at which the gradient is taken: 'right', at its end, as in the paper of
 *   EAP-IG (default); 'left', at its start; or 'middle'
 * @property {boolean} [exact] also measure the true effects, with one run for each edge
 * @property {boolean} [byToken] also return the terms of each score, one for each token
 * @property {(progress: Progress) => unknown} [onProgress] a promise is awaited; if it rejects, edgeAttribution rejects
 * @property {AbortSignal} [signal]
 */
/**
 * Result of edgeAttribution. Arrays are (U,V), sources by targets, with NaN where there is no edge.
 * @typedef {object} EdgeAttribution
 * @property {number} clean the metric of the clean run
 * @property {number} corrupted the metric of the corrupted run
 * @property {Node[]} sources
 * @property {Node[]} targets
 * @property {Numbers} scores estimates of the effects, metric(changed run) − metric(corrupted run)
 * @property {Numbers} [terms] (U,V,T), with byToken: the scores are their sums over tokens
 * @property {Numbers} [exact] with exact: the measured effects
 */

const OPTIONS = ['steps', 'rule', 'exact', 'byToken', 'onProgress', 'signal'];

/**
 * Estimates, for every edge, the effect of replacing the contribution of its source to the input of its target by the
 * contribution in the clean run (EAP: Syed et al. 2023, "Attribution Patching Outperforms Automated Circuit
 * Discovery"):
 *
 *     effect ≈ Σₜ (clean contribution − corrupted contribution)(t) · ∂metric / ∂input(t)
 *
 * With steps, the gradient is averaged over runs whose embeddings are interpolated between the two runs (EAP-IG: Hanna
 * et al. 2024, "Have Faith in Faithfulness").
 *
 * @param {DifferentiableModel} model a decoder with norms before attention and feed-forward
 * @param {any} clean an input of forward, one sequence
 * @param {any} corrupted an input with the same number of tokens
 * @param {Metric} metric with a gradient
 * @param {EdgeAttributionOptions} [options]
 * @returns {Promise<EdgeAttribution>}
 */
export async function edgeAttribution(model, clean, corrupted, metric, options = {}) {
  const caller = 'edgeAttribution';
  checkOptions(caller, options, OPTIONS);
  const { steps: count = 0, rule = 'right' } = options;
  const steps = readSteps(caller, options);
  readNumber(caller, 'steps', count, { integer: true, least: 0 });
  readWord(caller, 'rule', rule, RULES);
  const [exact, byToken] = /** @type {const} */ (['exact', 'byToken']).map((name) =>
    readBoolean(caller, name, options[name] ?? false),
  );
  checkGradient(caller, metric);
  checkLogits(caller, model);
  const edges = edgesOf(caller, model);
  const { sources, targets, capture } = edges;
  steps.check();

  const places = placesOf(edges);
  const shares = sharesOf(count, rule);
  const total = 2 + shares.length + (exact ? places.length : 0);
  let done = 0;
  /** @template R @param {() => R} step */
  const run = async (step) => {
    const result = await steps.run(step);
    await steps.report({ done: ++done, total });
    return result;
  };
  const best = await run(() => runCaptured(caller, model, clean, metric, capture));
  const checked = checkedFirst(metric, (result) => checkPair(caller, best.values, result.captured));
  const worst = await run(() => runCaptured(caller, model, corrupted, checked, capture));
  /** @type {Record<string, Numbers>} */
  const gradients = {};
  for (const share of shares) {
    const edit = share === 0 ? [] : [{ at: 'embed', set: between(worst.values.embed, best.values.embed, share) }];
    await run(() => {
      const found = differentiated(caller, model, corrupted, { of: metric, at: edges.inputs, edit });
      addMean(gradients, found.gradients, shares.length);
    });
  }
  const [read, difference] = [contributionsOf(caller, model), differences(best.values, worst.values)];
  const changes = sources.map((source) => read(source, difference));
  const shape = [sources.length, targets.length];
  const estimates = estimate(edges, model.options.layers, changes, gradients);
  const result = {
    ...{ clean: best.value, corrupted: worst.value, sources, targets },
    scores: { data: estimates.scores, shape },
    ...(byToken && { terms: { data: estimates.terms, shape: [...shape, estimates.tokens] } }),
  };
  if (!exact) return result;
  const effects = new Float32Array(estimates.scores.length).fill(NaN);
  const [, tokens, width] = best.values.embed.shape;
  for (const [u, v] of places) {
    const add = { data: changes[u], shape: [tokens, width] };
    const edit = [{ ...inputOf(targets[v], model.options.layers), add }];
    effects[u * targets.length + v] =
      (await run(() => runEdited(caller, model, corrupted, metric, edit))) - worst.value;
  }
  return { ...result, exact: { data: effects, shape } };
}

/**
 * Returns a − b for each name.
 * @param {Readonly<Record<string, Numbers>>} a
 * @param {Readonly<Record<string, Numbers>>} b
 */
function differences(a, b) {
  /** @type {Record<string, Numbers>} */
  const found = {};
  for (const [name, { data, shape }] of Object.entries(a))
    found[name] = { data: data.map((x, i) => x - b[name].data[i]), shape };
  return found;
}
