// Sums measures of every head over rows of weights: the inner loops of scanHeads, which allocate nothing per row.

import type { Numbers } from '../arrays.ts';
import { type Bounds, countRows, HEAD_ROLES, type HeadRole, NEAR, noCounts } from '../roles/roleRules.ts';
import { logarithmOf } from './logarithm.ts';

/**
 * A prepared sequence. For each query and earlier key with the same token, `copies` has the index t·T + s of that key's
 * weight, `after` that of the next key's. inductions, duplicates: indices that these rules predict. repeats: queries
 * with such a key. equalsBefore: returns the earlier keys with the token of a query.
 */
export type Prepared = {
  ids: Int32Array;
  after: Int32Array;
  copies: Int32Array;
  inductions: Int32Array;
  duplicates: Int32Array;
  repeats: number;
  equalsBefore: (t: number) => ArrayLike<number>;
};
/** The roles for which the rows are counted whose largest weight is on a key that the role predicts. */
const HELD = ['previous', 'itself', 'induction', 'first', 'duplicate'] as const;
/** `on` sums the weights on predicted keys; `holds` counts the rows whose largest weight is on one. */
const SUMS = [
  'self',
  'previous',
  'entropy',
  'distance',
  'square',
  'induction',
  'first',
  'duplicate',
  ...HEAD_ROLES.map((role) => `on ${role}` as const),
  ...HELD.map((role) => `holds ${role}` as const),
] as const;
const AT = Object.fromEntries(SUMS.map((name, i) => [name, i])) as Record<(typeof SUMS)[number], number>;

export function prepare(ids: Int32Array): Prepared {
  const length = ids.length;
  const equal: number[][] = [];
  /** The positions of each token so far, by id. */
  const places: Map<number, number[]> = new Map();
  ids.forEach((id, t) => {
    const known = places.get(id) ?? [];
    equal.push(known.slice());
    known.push(t);
    places.set(id, known);
  });
  const indices = (counts: (s: number, t: number) => boolean, step = 0) =>
    Int32Array.from(equal.flatMap((keys, t) => keys.filter((s) => counts(s, t)).map((s) => t * length + s + step)));
  const always = () => true;
  return {
    ids,
    copies: indices(always),
    after: indices(always, 1),
    inductions: indices((s, t) => s + 1 < t, 1),
    duplicates: indices((s) => s > 0),
    repeats: equal.filter((keys) => keys.length > 0).length,
    equalsBefore: (t) => equal[t],
  };
}

export class HeadSums {
  declare shape: number[];

  #threshold: number;
  /** (L·H,sums) */
  #sums: Float64Array<ArrayBuffer>;
  /** Numbers of tokens, sequences and queries with an earlier key of the same token. */
  #counts = { tokens: 0, sequences: 0, repeats: 0 };
  /** By layer: 1 if weights of the layer were added. */
  #known: Uint8Array<ArrayBuffer>;
  #bounds: readonly Bounds[];
  /** Rows of each role and sums of shares: see countRows. One entry for all layers with the same bounds. */
  #expected: { bounds: Bounds; rows: Record<HeadRole, number>; shares: Record<HeadRole, number> }[];

  /** heads: of a layer; threshold: least weight that counts for induction in the metrics */
  constructor(heads: number, threshold: number, bounds: readonly Bounds[]) {
    const layers = bounds.length;
    this.shape = [layers, heads];
    this.#threshold = threshold;
    this.#bounds = bounds;
    this.#sums = new Float64Array(layers * heads * SUMS.length);
    this.#known = new Uint8Array(layers);
    const groups: Map<string, { bounds: Bounds; rows: Record<HeadRole, number>; shares: Record<HeadRole, number> }> =
      new Map();
    this.#expected = bounds.map((own) => {
      const key = `${own.left} ${own.right}`;
      const group = groups.get(key) ?? { bounds: own, rows: noCounts(), shares: noCounts() };
      groups.set(key, group);
      return group;
    });
  }

  /** Counts a sequence, once. The weights of each of its heads are then added with add(). */
  count({ ids, repeats, equalsBefore }: Prepared) {
    this.#counts.tokens += ids.length;
    this.#counts.sequences++;
    this.#counts.repeats += repeats;
    for (const group of new Set(this.#expected)) {
      const { rows, shares } = countRows(ids, equalsBefore, group.bounds);
      for (const role of HEAD_ROLES) {
        group.rows[role] += rows[role];
        group.shares[role] += shares[role];
      }
    }
  }

  /** Adds weights (T,T), which begin at `start`. Returns the largest weight without those of query 0 and key 0. */
  add(layer: number, head: number, weights: Float32Array, start: number, sequence: Prepared): number {
    this.#known[layer] = 1;
    const to = (layer * this.shape[1] + head) * SUMS.length;
    this.#addCopies(to, weights, start, sequence);
    return addRows(this.#sums, to, weights, start, sequence.ids, this.#bounds[layer]);
  }

  #addCopies(to: number, weights: Float32Array, start: number, { after, copies, inductions, duplicates }: Prepared) {
    const threshold = this.#threshold;
    let [induction, duplicate] = [0, 0];
    for (let i = 0; i < copies.length; i++) {
      const w = weights[start + after[i]];
      if (w >= threshold) induction += w;
      duplicate += weights[start + copies[i]];
    }
    this.#sums[to + AT.induction] += induction;
    this.#sums[to + AT.duplicate] += duplicate;
    this.#sums[to + AT['on induction']] += sumAt(weights, start, inductions);
    this.#sums[to + AT['on duplicate']] += sumAt(weights, start, duplicates);
  }

  /** Computes a measure of every head in float32. measure: computes it from the sums of a head; returns (L,H). */
  #measure(measure: (sum: (name: (typeof SUMS)[number]) => number, layer: number) => number): Numbers {
    const [layers, heads] = this.shape;
    const data = Float32Array.from({ length: layers * heads }, (_, i) => {
      const layer = Math.floor(i / heads);
      return this.#known[layer] ? measure((name) => this.#sums[i * SUMS.length + AT[name]], layer) : Number.NaN;
    });
    return { data, shape: [layers, heads] };
  }

  metrics() {
    const { tokens, sequences, repeats } = this.#counts;
    return {
      selfAttention: this.#measure((sum) => sum('self') / tokens),
      previous: this.#measure((sum) => sum('previous') / (tokens - sequences)),
      entropy: this.#measure((sum) => sum('entropy') / tokens),
      distance: this.#measure((sum) => sum('distance') / tokens),
      distanceVariance: this.#measure((sum) => sum('square') / tokens - (sum('distance') / tokens) ** 2),
      induction: this.#measure((sum) => sum('induction') / repeats),
    };
  }

  roleMeasures() {
    const all = (of: (role: HeadRole) => Numbers) =>
      Object.fromEntries(HEAD_ROLES.map((role) => [role, of(role)])) as Record<HeadRole, Numbers>;
    return {
      mean: all((role) => this.#measure((sum, layer) => sum(`on ${role}`) / this.#expected[layer].rows[role])),
      chance: all((role) =>
        this.#measure((_, layer) => this.#expected[layer].shares[role] / this.#expected[layer].rows[role]),
      ),
    };
  }

  roles() {
    const { tokens, sequences, repeats } = this.#counts;
    const rows = tokens - sequences;
    const counts = { previous: rows, itself: rows, induction: repeats, first: rows, duplicate: repeats };
    return {
      ...this.roleMeasures(),
      first: this.#measure((sum) => sum('first') / rows),
      duplicate: this.#measure((sum) => sum('duplicate') / repeats),
      holds: Object.fromEntries(
        HELD.map((role) => [role, this.#measure((sum) => sum(`holds ${role}`) / counts[role])]),
      ) as Record<Exclude<HeadRole, 'nearby'>, Numbers>,
    };
  }
}

function sumAt(weights: Float32Array, start: number, indices: Int32Array) {
  let sum = 0;
  for (let i = 0; i < indices.length; i++) sum += weights[start + indices[i]];
  return sum;
}

/** Adds the measures of all rows of a head to its sums, which begin at `to`. start: of the weights; ids: (T). */
function addRows(
  sums: Float64Array,
  to: number,
  weights: Float32Array,
  start: number,
  ids: Int32Array,
  { left, right }: Bounds,
) {
  const bits = new Int32Array(weights.buffer, weights.byteOffset, weights.length);
  const length = ids.length;
  // These declarations are not destructured, because that would take longer than the rest of the loop.
  let own = 0;
  let itself = 0;
  let near = 0;
  let previous = 0;
  let directly = 0;
  let first = 0;
  let entropy = 0;
  let distance = 0;
  let square = 0;
  let max = 0;
  for (let t = 0; t < length; t++) {
    const row = start + t * length;
    const low = t > left ? t - left : 0;
    const end = t + right < length ? t + right + 1 : length;
    let largest = 0;
    let key = -1;
    for (let s = low > 0 ? low : 1; s < end; s++) {
      const w = weights[row + s];
      if (w > 0) {
        if (w > largest) {
          largest = w;
          key = s;
        }
        const d = Math.abs(t - s);
        entropy -= w * logarithmOf(bits[row + s]);
        distance += w * d;
        square += w * d * d;
        if (d < NEAR) near += w;
      }
    }
    const w = weights[row];
    own += weights[row + t];
    if (w > 0) {
      entropy -= w * logarithmOf(bits[row]);
      distance += w * t;
      square += w * t * t;
    }
    if (t === 0) {
      // Row 0 does not count for roles.
      near = 0;
      continue;
    }
    itself += weights[row + t];
    if (t > 1) directly += weights[row + t - 1];
    if (largest > max) max = largest;
    previous += weights[row + t - 1];
    first += w;
    if (w >= largest && w > 0) key = 0;
    if (key >= 0) addRoles(sums, to, ids, t, key);
  }
  sums[to + AT.self] += own;
  sums[to + AT['on itself']] += itself;
  sums[to + AT['on previous']] += directly;
  sums[to + AT['on nearby']] += near;
  sums[to + AT['on first']] += first;
  sums[to + AT.previous] += previous;
  sums[to + AT.entropy] += entropy;
  sums[to + AT.distance] += distance;
  sums[to + AT.square] += square;
  sums[to + AT.first] += first;
  return max;
}

/** Counts a query t for each role that predicts `key`, on which its largest weight is. to: first sum of the head. */
function addRoles(sums: Float64Array, to: number, ids: Int32Array, t: number, key: number) {
  if (key === t - 1) sums[to + AT['holds previous']]++;
  if (key === t) sums[to + AT['holds itself']]++;
  if (key === 0) sums[to + AT['holds first']]++;
  if (key > 0 && key <= t && ids[key - 1] === ids[t]) sums[to + AT['holds induction']]++;
  if (key < t && ids[key] === ids[t]) sums[to + AT['holds duplicate']]++;
}
