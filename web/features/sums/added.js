// Adds rows or columns of a picture. In the state a sum is a text: "columns.3.9" is the weight on the keys 3 and 9
// together, "rows.3.9" the weights of the queries 3 and 9 together.

/** @typedef {'rows' | 'columns'} Axis */
/** @typedef {{ axis: Axis, places: number[] }} Added */
/**
 * @typedef {{ place: number, weight: number }} Total sum for a key if rows are added, for a query if columns are added
 */

/** @param {string} sum @returns {Added | null} null if nothing is added */
export function readSum(sum) {
  const [axis, ...places] = sum.split('.');
  return places.length === 0 ? null : { axis: /** @type {Axis} */ (axis), places: places.map(Number) };
}
/** @param {Axis} axis @param {readonly number[]} places */
export const writeSum = (axis, places) =>
  places.length === 0 ? '' : [axis, ...[...new Set(places)].sort((a, b) => a - b)].join('.');

/**
 * Returns all positions between two positions, including both, in ascending order.
 * @param {number} from
 * @param {number} to
 */
export const placesBetween = (from, to) =>
  Array.from({ length: Math.abs(to - from) + 1 }, (_, i) => Math.min(from, to) + i);

/**
 * Returns the sums, one for each key or for each query.
 * @param {Added} added
 * @param {{ weights: ArrayLike<number>, T: number, S: number }} picture
 * @returns {Total[]}
 */
export function totalsOf({ axis, places }, { weights, T, S }) {
  const count = axis === 'rows' ? S : T;
  const at = (/** @type {number} */ place, /** @type {number} */ i) =>
    weights[axis === 'rows' ? place * S + i : i * S + place];
  return Array.from({ length: count }, (_, i) => ({
    place: i,
    weight: places.reduce((sum, place) => sum + at(place, i), 0),
  }));
}

/**
 * Returns the sum that results from Shift and an arrow key, as a text for the state. It grows or shrinks by one row or
 * column; the row or column of the cell that is read is its fixed end.
 * @param {Added | null} added
 * @param {string} key
 * @param {{ t: number, s: number }} read
 * @param {{ T: number, S: number }} size
 * @returns {string}
 */
export function extended(added, key, { t, s }, { T, S }) {
  const axis = key === 'ArrowUp' || key === 'ArrowDown' ? 'rows' : 'columns';
  const [anchor, count] = axis === 'rows' ? [t, T] : [s, S];
  const by = key === 'ArrowUp' || key === 'ArrowLeft' ? -1 : 1;
  const places = added?.axis === axis && added.places.includes(anchor) ? added.places : [anchor];
  const [first, last] = [places[0], places[places.length - 1]];
  const end = (first < anchor ? first : last) + by;
  return writeSum(axis, placesBetween(anchor, Math.min(Math.max(end, 0), count - 1)));
}
