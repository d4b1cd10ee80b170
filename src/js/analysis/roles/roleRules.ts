// The rules by which heads get roles. A head has a role if most of its weight is on the keys that the rule predicts.

/** The keys that a query t can see are from t − left to t + right. */
export type Bounds = { left: number; right: number };
export type HeadRole = 'induction' | 'duplicate' | 'previous' | 'itself' | 'first' | 'nearby';

/** The roles in order of precedence: a head has the first role whose rule it follows. */
export const HEAD_ROLES: readonly HeadRole[] = ['induction', 'duplicate', 'previous', 'itself', 'first', 'nearby'];
/** A key that is less than this many tokens away counts as nearby. */
export const NEAR = 8;
/** A role needs a mean weight above MIN_WEIGHT, and above TIMES_CHANCE times the weight without regard to content. */
const [MIN_WEIGHT, TIMES_CHANCE] = [0.5, 2];
/** Larger than every distance between tokens. */
const UNBOUNDED = 2 ** 30;

/** Returns the visible keys of a query in each layer of a model. */
export const boundsOf = ({
  layers,
  causal = true,
  window,
}: {
  layers: number;
  causal?: boolean;
  window?: readonly (number | null)[] | null;
}): Bounds[] =>
  Array.from({ length: layers }, (_, l) => {
    const width = window?.[l] ?? null;
    const left = width === null ? UNBOUNDED : causal ? width - 1 : Math.floor(width / 2);
    return { left, right: causal ? 0 : left };
  });

/** Returns true if a rule predicts the key for query t. Only `first` predicts key 0, which many heads use as a rest. */
export function predicts(role: HeadRole, ids: ArrayLike<number>, t: number, key: number) {
  if (t === 0) return false;
  if (role === 'first') return key === 0;
  if (key === 0) return false;
  if (role === 'previous') return key === t - 1;
  if (role === 'itself') return key === t;
  if (role === 'nearby') return Math.abs(t - key) < NEAR;
  if (role === 'duplicate') return key < t && ids[key] === ids[t];
  return key < t && ids[key - 1] === ids[t];
}

export const noCounts = (): Record<HeadRole, number> => ({
  induction: 0,
  duplicate: 0,
  previous: 0,
  itself: 0,
  first: 0,
  nearby: 0,
});

/**
 * Counts, for each role, the rows in which its rule predicts a visible key, and sums the shares of predicted among
 * visible keys. equalsBefore: returns earlier keys with the token of a query.
 */
export function countRows(ids: Int32Array, equalsBefore: (t: number) => ArrayLike<number>, { left, right }: Bounds) {
  const [rows, shares] = [noCounts(), noCounts()];
  for (let t = 1; t < ids.length; t++) {
    const low = Math.max(t - left, 0);
    const high = Math.min(t + right, ids.length - 1);
    const seen = noCounts();
    if (low === 0) seen.first = 1;
    seen.itself = 1;
    seen.nearby = Math.min(high, t + NEAR - 1) - Math.max(low, 1, t - NEAR + 1) + 1;
    if (t > 1 && low < t) seen.previous = 1;
    const equal = equalsBefore(t);
    for (let i = 0; i < equal.length; i++) {
      if (equal[i] >= Math.max(low, 1)) seen.duplicate++;
      if (equal[i] + 1 < t && equal[i] + 1 >= low) seen.induction++;
    }
    for (const role of HEAD_ROLES) {
      if (seen[role] === 0) continue;
      rows[role]++;
      shares[role] += seen[role] / (high - low + 1);
    }
  }
  return { rows, shares };
}

/**
 * mean: weight on the keys that a rule predicts, NaN or undefined if unknown; chance: share of these among visible
 * keys.
 */
export const showsRole = (mean: number = Number.NaN, chance: number = Number.NaN) =>
  mean > MIN_WEIGHT && mean > TIMES_CHANCE * chance;

/** Returns the role of a head; null if it follows no rule. */
export const roleBy = (mean: (role: HeadRole) => number | undefined, chance: (role: HeadRole) => number | undefined) =>
  HEAD_ROLES.find((role) => showsRole(mean(role), chance(role))) ?? null;
