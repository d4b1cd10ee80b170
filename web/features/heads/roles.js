// The role of a head: scores of its weights on passages that occur twice, and the score from which a role is assigned.

/** @import { Session } from '../../store/session.js' */
/** @import { Run } from '../heatmap/types.js' */
/** @typedef {'partner' | 'induction' | 'previous' | 'duplicate' | 'itself' | 'first'} RoleName */

/** Roles with the score that a head must reach. The first one reached is the head's. @type {[RoleName, number][]} */
export const ROLES = [
  ['partner', 0.3],
  ['induction', 0.3],
  ['previous', 0.45],
  ['duplicate', 0.35],
  ['itself', 0.5],
  ['first', 0.6],
];

/** @param {Record<string, number>} scores of one head @returns {string | null} */
export const roleOf = (scores) => ROLES.find(([name, minScore]) => scores[name] >= minScore)?.[0] ?? null;

/** Roles that match the query's token with an earlier equal one. */
const MATCHING = new Set(['induction', 'duplicate']);
/** Number of first tokens, and the mean weight from which rows are said to attend to them. */
const [FIRST_TOKENS, MIN_MEAN_WEIGHT] = [3, 0.4];

/**
 * Rows without a match for a role that matches tokens: no earlier token equals theirs.
 * @param {string | null | undefined} role
 * @param {ArrayLike<number>} ids of the tokens
 * @returns {number[]}
 */
export function rowsWithNothing(role, ids) {
  if (!role || !MATCHING.has(role)) return [];
  const all = Array.from(ids);
  return all.map((_, t) => t).filter((t) => all.indexOf(all[t]) === t);
}

/**
 * True if no row of a run has a match for a role, which was measured on other texts.
 * @param {string | null | undefined} role
 * @param {Run | null} run
 */
export function findsNothing(role, run) {
  if (!role || !MATCHING.has(role) || !run || run.T !== (run.S ?? run.T)) return false;
  const ids = run.pieces.map(({ id }) => id);
  return !ids.includes(-1) && rowsWithNothing(role, ids).length === ids.length;
}

/**
 * True if rows give much of their weight to the first tokens.
 * @param {Float32Array} weights (T,T) @param {number} T @param {number[]} rows
 */
export function attendsToFirst(weights, T, rows) {
  // Earlier rows have few other keys.
  const late = rows.filter((t) => t > 2 * FIRST_TOKENS);
  const weightOf = (/** @type {number} */ t) =>
    weights.subarray(t * T, t * T + FIRST_TOKENS).reduce((sum, w) => sum + w, 0);
  const sum = late.reduce((all, t) => all + weightOf(t), 0);
  return late.length > 0 && sum / late.length >= MIN_MEAN_WEIGHT;
}

/** The three highest scores of a head, in descending order. @param {Record<string, number>} scores */
export const highestScores = (scores) =>
  ROLES.map(([name]) => /** @type {[string, number]} */ ([name, scores[name]]))
    .filter(([, score]) => Number.isFinite(score))
    .sort(([, a], [, b]) => b - a)
    .slice(0, 3);

/**
 * The name of a role in the page's language. A source may define roles of its own, in its `terms`.
 * @param {Session} session
 * @param {string} role
 * @returns {string}
 */
export const roleName = (session, role) =>
  session.words.value.roleNames[/** @type {RoleName} */ (role)] ??
  session.about.value?.terms?.[session.language.value][role][0];
