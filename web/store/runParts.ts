// Type guards for the parts of a run that only some models have.

import type { Run, RunWithContributions, RunWithPredictions, RunWithValues } from '../model/types.ts';

/** Returns true if a run has the queries, keys, values and scores of the shown head. */
export const hasValues = <R extends Run>(run: R | null): run is R & RunWithValues => run?.values !== undefined;

export const hasPredictions = <R extends Run>(run: R | null): run is R & RunWithPredictions =>
  run?.top !== undefined && run.chosen !== undefined;

export const hasContributions = <R extends Run>(run: R | null): run is R & RunWithContributions =>
  Boolean(run?.added) && hasPredictions(run);
