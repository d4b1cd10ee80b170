// The roles of heads on the page, such as induction or previous token. The worker names them by headRoles, see
// worker/run/roleMeasurement.ts.

import { HEAD_ROLES, type HeadRole } from '../../src/js/analysis/roles/roleRules.ts';
import type { Run } from './types.ts';
/** The role `partner` is for heads of a model that is trained on a task: they attend to the tokens with the answer. */
export type RoleName = HeadRole | 'partner';

/** All roles that have scores, in order of precedence. */
const ROLES: readonly RoleName[] = ['partner', ...HEAD_ROLES];

/** Roles whose heads look for an earlier token that is equal to the query's token. */
const MATCHING = new Set(['induction', 'duplicate']);
/** Number of tokens at the beginning, and the mean weight on them above which rows attend to the beginning. */
const [FIRST_TOKENS, MIN_MEAN_WEIGHT] = [3, 0.4];

/** Returns the rows in which a matching role finds nothing: no earlier token equals theirs. `ids`: of the tokens. */
export function rowsWithNothing(role: string | null | undefined, ids: ArrayLike<number>): number[] {
  if (!role || !MATCHING.has(role)) return [];
  const all = Array.from(ids);
  return all.map((_, t) => t).filter((t) => all.indexOf(all[t]) === t);
}

/** Returns true if a role finds no match in any row of a run. The role itself was measured on other texts. */
export function findsNothing(role: string | null | undefined, run: Run | null) {
  if (!role || !MATCHING.has(role) || !run || run.T !== (run.S ?? run.T)) return false;
  const ids = run.pieces.map(({ id }) => id);
  return !ids.includes(-1) && rowsWithNothing(role, ids).length === ids.length;
}

/** Returns true if rows give much of their weight to the first tokens. `weights`: (T,T). */
export function attendsToFirst(weights: Float32Array, T: number, rows: number[]) {
  // Earlier rows are left out, because they have few other keys.
  const late = rows.filter((t) => t > 2 * FIRST_TOKENS);
  const weightOf = (t: number) => weights.subarray(t * T, t * T + FIRST_TOKENS).reduce((sum, w) => sum + w, 0);
  const sum = late.reduce((all, t) => all + weightOf(t), 0);
  return late.length > 0 && sum / late.length >= MIN_MEAN_WEIGHT;
}

export const highestScores = (scores: Record<string, number>) =>
  ROLES.map((name) => [name, scores[name]] as [string, number])
    .filter(([, score]) => Number.isFinite(score))
    .sort(([, a], [, b]) => b - a)
    .slice(0, 3);
