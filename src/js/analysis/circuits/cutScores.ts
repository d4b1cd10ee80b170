// Scores the edges for one input: estimates from a few gradients how much of the metric is lost when an edge is cut.

import type { Numbers } from '../arrays.ts';
import { type DifferentiableModel, differentiated, type Metric } from '../patching/pairs.ts';
import { addMean, between, estimate } from './edgeScores.ts';
import { contributionsOf, type Edges } from './edges.ts';
import type { Off } from './runEdges.ts';

export type Run = <R>(step: () => R) => Promise<R>;

/**
 * Returns the estimates of metric(whole run) − metric(run with this edge cut) for all edges, and their terms by token.
 */
export async function cutScores(
  caller: string,
  model: DifferentiableModel,
  edges: Edges,
  {
    input,
    metric,
    values,
    off,
    shares,
  }: {
    input: any;
    /** with a gradient */
    metric: Metric;
    /** of the whole run, by the names in edges.capture */
    values: Readonly<Record<string, Numbers>>;
    /** the values of cut edges */
    off: Off;
    /** interpolation factors of the gradients: 0 is the embedding that cut edges carry, 1 is that of the whole run */
    shares: readonly number[];
  },
  run: Run,
) {
  const gradients: Record<string, Numbers> = {};
  const start = { data: off.rows[0], shape: values.embed.shape };
  for (const share of shares) {
    const edit = [{ at: 'embed', set: between(start, values.embed, share) }];
    await run(() => {
      const found = differentiated(caller, model, input, { of: metric, at: edges.inputs, edit });
      addMean(gradients, found.gradients, shares.length);
    });
  }
  const read = contributionsOf(caller, model);
  const changes = edges.sources.map((source, u) => read(source, values).map((x, i) => x - off.rows[u][i]));
  return estimate(edges, model.options.layers, changes, gradients);
}
