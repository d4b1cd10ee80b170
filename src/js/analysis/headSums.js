// Sums measures of every head over the rows of its attention weights. These are the inner loops of scanHeads, so they
// allocate nothing per row.

import { logarithmOf } from './logarithm.js';

/** @import { Numbers } from './arrays.js' */
/** @import { HeadRole } from './headScan.js' */

/**
 * A sequence, prepared for the loops. For each query and each earlier key with the same token, copies contains the
 * index t·T + s of that key's weight, and `after` contains the index of the next key's weight. repeats: number of
 * queries with an earlier key of the same token.
 * @typedef {{ ids: Int32Array, after: Int32Array, copies: Int32Array, repeats: number }} Prepared
 */
/** The keys that a query t can see are from t − left to t + right. @typedef {{ left: number, right: number }} Bounds */

/**
 * Attention patterns by which heads are classified. For each query t, a role defines the keys that a head with this
 * role attends to.
 */
export const ROLES = /** @type {const} */ (['previous', 'self', 'induction', 'first', 'duplicate']);
/** Names of the sums of a head. The last sums count rows whose largest weight is on a key that a role predicts. */
const SUMS = /** @type {const} */ ([
  'self',
  'previous',
  'entropy',
  'distance',
  'square',
  'induction',
  'first',
  'duplicate',
  ...ROLES.map((role) => /** @type {const} */ (`holds ${role}`)),
]);
/** The index of each sum. */
const AT = /** @type {Record<typeof SUMS[number], number>} */ (Object.fromEntries(SUMS.map((name, i) => [name, i])));

/**
 * Finds the pairs of equal tokens of a sequence.
 * @param {Int32Array} ids (T)
 * @returns {Prepared} repeats: number of queries with an earlier key of the same token
 */
export function prepare(ids) {
  const length = ids.length;
  /** @type {number[]} */
  const copies = [];
  let repeats = 0;
  for (let t = 0; t < length; t++) {
    const before = copies.length;
    for (let s = 0; s < t; s++) if (ids[s] === ids[t]) copies.push(t * length + s);
    if (copies.length > before) repeats++;
  }
  return { ids, copies: Int32Array.from(copies), after: Int32Array.from(copies, (at) => at + 1), repeats };
}

/** Sums over the sequences so far, for all heads. */
export class HeadSums {
  #threshold;
  /** (L·H,sums) */
  #sums;
  /** Numbers of tokens, sequences and queries with an earlier key of the same token. */
  #counts = { tokens: 0, sequences: 0, repeats: 0 };
  /** By layer: 1 if weights of the layer were added. */
  #known;

  /** @param {number} layers @param {number} heads @param {number} threshold least weight that counts for induction */
  constructor(layers, heads, threshold) {
    this.shape = [layers, heads];
    this.#threshold = threshold;
    this.#sums = new Float64Array(layers * heads * SUMS.length);
    this.#known = new Uint8Array(layers);
  }

  /** Counts a sequence, once. The weights of each of its heads are then added with add(). @param {Prepared} sequence */
  count({ ids, repeats }) {
    this.#counts.tokens += ids.length;
    this.#counts.sequences++;
    this.#counts.repeats += repeats;
  }

  /**
   * Adds the weights (T,T) of a head.
   * @param {number} layer
   * @param {number} head
   * @param {Float32Array} weights
   * @param {number} start index of the first weight
   * @param {Prepared} sequence
   * @param {Bounds} bounds
   * @returns {number} the largest weight; the weights of query 0 and of key 0 do not count
   */
  add(layer, head, weights, start, sequence, bounds) {
    this.#known[layer] = 1;
    const to = (layer * this.shape[1] + head) * SUMS.length;
    this.#addCopies(to, weights, start, sequence);
    return addRows(this.#sums, to, weights, start, sequence.ids, bounds);
  }

  /** @param {number} to @param {Float32Array} weights @param {number} start @param {Prepared} sequence */
  #addCopies(to, weights, start, { after, copies }) {
    const threshold = this.#threshold;
    let [induction, duplicate] = [0, 0];
    for (let i = 0; i < copies.length; i++) {
      const w = weights[start + after[i]];
      if (w >= threshold) induction += w;
      duplicate += weights[start + copies[i]];
    }
    this.#sums[to + AT.induction] += induction;
    this.#sums[to + AT.duplicate] += duplicate;
  }

  /**
   * Computes a measure of every head in float32.
   * @param {(sum: (name: typeof SUMS[number]) => number) => number} measure computes it from the sums of a head
   * @returns {Numbers} (L,H)
   */
  #measure(measure) {
    const [layers, heads] = this.shape;
    const data = Float32Array.from({ length: layers * heads }, (_, i) =>
      this.#known[Math.floor(i / heads)] ? measure((name) => this.#sums[i * SUMS.length + AT[name]]) : Number.NaN,
    );
    return { data, shape: [layers, heads] };
  }

  /** Returns the metrics of HeadScan. */
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

  /** Returns the roles of HeadScan. */
  roles() {
    const { tokens, sequences, repeats } = this.#counts;
    const rows = tokens - sequences;
    const counts = { previous: rows, self: rows, induction: repeats, first: rows, duplicate: repeats };
    return {
      first: this.#measure((sum) => sum('first') / rows),
      duplicate: this.#measure((sum) => sum('duplicate') / repeats),
      holds: /** @type {Record<HeadRole, Numbers>} */ (
        Object.fromEntries(ROLES.map((role) => [role, this.#measure((sum) => sum(`holds ${role}`) / counts[role])]))
      ),
    };
  }
}

/**
 * Adds the measures of all rows of a head to its sums.
 * @param {Float64Array} sums
 * @param {number} to index of the first sum of the head
 * @param {Float32Array} weights
 * @param {number} start index of the first weight
 * @param {Int32Array} ids (T)
 * @param {Bounds} bounds
 */
function addRows(sums, to, weights, start, ids, { left, right }) {
  const bits = new Int32Array(weights.buffer, weights.byteOffset, weights.length);
  const length = ids.length;
  // These declarations are not destructured, because that would take longer than the rest of the loop.
  let own = 0;
  let previous = 0;
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
      }
    }
    const w = weights[row];
    own += weights[row + t];
    if (w > 0) {
      entropy -= w * logarithmOf(bits[row]);
      distance += w * t;
      square += w * t * t;
    }
    if (t === 0) continue;
    if (largest > max) max = largest;
    previous += weights[row + t - 1];
    first += w;
    if (w >= largest && w > 0) key = 0;
    if (key >= 0) addRoles(sums, to, ids, t, key);
  }
  sums[to + AT.self] += own;
  sums[to + AT.previous] += previous;
  sums[to + AT.entropy] += entropy;
  sums[to + AT.distance] += distance;
  sums[to + AT.square] += square;
  sums[to + AT.first] += first;
  return max;
}

/**
 * Counts a query for each role that predicts the key on which its largest weight is.
 * @param {Float64Array} sums
 * @param {number} to index of the first sum of the head
 * @param {Int32Array} ids
 * @param {number} t query
 * @param {number} key key of the largest weight of the query
 */
function addRoles(sums, to, ids, t, key) {
  if (key === t - 1) sums[to + AT['holds previous']]++;
  if (key === t) sums[to + AT['holds self']]++;
  if (key === 0) sums[to + AT['holds first']]++;
  if (key > 0 && key <= t && ids[key - 1] === ids[t]) sums[to + AT['holds induction']]++;
  if (key < t && ids[key] === ids[t]) sums[to + AT['holds duplicate']]++;
}
