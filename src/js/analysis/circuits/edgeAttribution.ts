// Edge attribution patching: estimates the effect of every edge of a transformer's graph from a few gradients.

import { checkOptions, readBoolean, readNumber, readWord } from '../../check/arguments.ts';
import type { Numbers } from '../arrays.ts';
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
} from '../patching/pairs.ts';
import { type Progress, readSteps } from '../steps.ts';
import { addMean, between, estimate, placesOf, RULES, type Rule, sharesOf } from './edgeScores.ts';
import { contributionsOf, edgesOf, inputOf, type Node } from './edges.ts';

export type EdgeAttributionOptions = {
  /** number of gradients between the corrupted and the clean run (EAP-IG); default 0, one in the corrupted run (EAP) */
  steps?: number | undefined;
  /**
   * where each step takes its gradient: 'right', at its end, as in EAP-IG (default); 'left', at its start; or 'middle'
   */
  rule?: Rule | undefined;
  /** also measure the true effects, with one run for each edge */
  exact?: boolean | undefined;
  /** also return the terms of each score, one for each token */
  byToken?: boolean | undefined;
  /** a promise is awaited; if it rejects, edgeAttribution rejects */
  onProgress?: ((progress: Progress) => unknown) | undefined;
  signal?: AbortSignal | undefined;
};
export type EdgeAttribution = {
  /** the metric of the clean run */
  clean: number;
  /** the metric of the corrupted run */
  corrupted: number;
  sources: Node[];
  targets: Node[];
  /** estimates of the effects, metric(changed run) − metric(corrupted run) */
  scores: Numbers;
  /** (U,V,T), with byToken: the scores are their sums over tokens */
  terms?: Numbers | undefined;
  /** with exact: the measured effects */
  exact?: Numbers | undefined;
};

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
 * @param model a decoder with norms before attention and feed-forward
 * @param clean an input of forward, one sequence
 * @param corrupted an input with the same number of tokens
 * @param metric with a gradient
 */
export async function edgeAttribution(
  model: DifferentiableModel,
  clean: any,
  corrupted: any,
  metric: Metric,
  options: EdgeAttributionOptions = {},
): Promise<EdgeAttribution> {
  const caller = 'edgeAttribution';
  checkOptions(caller, options, OPTIONS);
  const { steps: count = 0, rule = 'right' } = options;
  const steps = readSteps(caller, options);
  readNumber(caller, 'steps', count, { integer: true, least: 0 });
  readWord(caller, 'rule', rule, RULES);
  const [exact, byToken] = (['exact', 'byToken'] as const).map((name) =>
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
  const run = async <R>(step: () => R) => {
    const result = await steps.run(step);
    await steps.report({ done: ++done, total });
    return result;
  };
  const best = await run(() => runCaptured(caller, model, clean, metric, capture));
  const checked = checkedFirst(metric, (result) => checkPair(caller, best.values, result.captured));
  const worst = await run(() => runCaptured(caller, model, corrupted, checked, capture));
  const gradients: Record<string, Numbers> = {};
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

function differences(a: Readonly<Record<string, Numbers>>, b: Readonly<Record<string, Numbers>>) {
  const found: Record<string, Numbers> = {};
  for (const [name, { data, shape }] of Object.entries(a))
    found[name] = { data: data.map((x, i) => x - b[name].data[i]), shape };
  return found;
}
