// Type guards for the parts of a run that only some models have.

/** @import { Run, RunWithContributions, RunWithPredictions, RunWithValues } from './types.js' */

/**
 * Returns true if a run has the queries, keys, values and scores of the shown head.
 * @template {Run} R
 * @param {R | null} run
 * @returns {run is R & RunWithValues}
 */
export const hasValues = (run) => run?.values !== undefined;

/**
 * Returns true if a run has predictions and one of them is chosen.
 * @template {Run} R
 * @param {R | null} run
 * @returns {run is R & RunWithPredictions}
 */
export const hasPredictions = (run) => run?.top !== undefined && run.chosen !== undefined;

/**
 * Returns true if a run has the contributions to the logit of the chosen prediction.
 * @template {Run} R
 * @param {R | null} run
 * @returns {run is R & RunWithContributions}
 */
export const hasContributions = (run) => Boolean(run?.added) && hasPredictions(run);
