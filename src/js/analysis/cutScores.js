// Scores the edges for one input: estimates from a few gradients how much of the metric is lost when an edge is cut.

import { addMean, between, estimate } from './edgeScores.js';
import { contributionsOf } from './edges.js';
import { differentiated } from './pairs.js';

/** @import { Numbers } from './arrays.js' */
/** @import { Edges } from './edges.js' */
/** @import { DifferentiableModel, Metric } from './pairs.js' */
/** @import { Off } from './runEdges.js' */

/** Runs one step of a longer computation. @typedef {<R>(step: () => R) => Promise<R>} Run */

/**
 * Returns the estimates of metric(whole run) − metric(run with this edge cut) for all edges, and their terms by token.
 * @param {string} caller
 * @param {DifferentiableModel} model
 * @param {Edges} edges
 * @param {object} experiment
 * @param {any} experiment.input
 * @param {Metric} experiment.metric with a gradient
 * @param {Readonly<Record<string, Numbers>>} experiment.values of the whole run, by the names in edges.capture
 * @param {Off} experiment.off the values of cut edges
 * @param {readonly number[]} experiment.shares interpolation factors at which gradients are computed; 0 is the
 *   embedding that cut edges carry, 1 is the embedding of the whole run
 * @param {Run} run
 */
export async function cutScores(caller, model, edges, { input, metric, values, off, shares }, run) {
  /** @type {Record<string, Numbers>} */
  const gradients = {};
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
