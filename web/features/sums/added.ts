// Adds rows or columns of a picture. In the state a sum is a text: "columns.3.9" is the weight on the keys 3 and 9
// together, "rows.3.9" the weights of the queries 3 and 9 together.

export type Axis = 'rows' | 'columns';
export type Added = { axis: Axis; places: number[] };
/** sum for a key if rows are added, for a query if columns are added */
export type Total = { place: number; weight: number };

export function readSum(sum: string): Added | null {
  const [axis, ...places] = sum.split('.');
  return places.length === 0 ? null : { axis: axis as Axis, places: places.map(Number) };
}
export const writeSum = (axis: Axis, places: readonly number[]) =>
  places.length === 0 ? '' : [axis, ...[...new Set(places)].sort((a, b) => a - b)].join('.');

/** Returns all positions between two positions, including both, in ascending order. */
export const placesBetween = (from: number, to: number) =>
  Array.from({ length: Math.abs(to - from) + 1 }, (_, i) => Math.min(from, to) + i);

/** Returns the sums, one for each key or for each query. */
export function totalsOf(
  { axis, places }: Added,
  { weights, T, S }: { weights: ArrayLike<number>; T: number; S: number },
): Total[] {
  const count = axis === 'rows' ? S : T;
  const at = (place: number, i: number) => weights[axis === 'rows' ? place * S + i : i * S + place];
  return Array.from({ length: count }, (_, i) => ({
    place: i,
    weight: places.reduce((sum, place) => sum + at(place, i), 0),
  }));
}

/** Returns the sum after Shift and an arrow key, as a text of the state; it keeps the row or column that is read. */
export function extended(
  added: Added | null,
  key: string,
  { t, s }: { t: number; s: number },
  { T, S }: { T: number; S: number },
): string {
  const axis = key === 'ArrowUp' || key === 'ArrowDown' ? 'rows' : 'columns';
  const [anchor, count] = axis === 'rows' ? [t, T] : [s, S];
  const by = key === 'ArrowUp' || key === 'ArrowLeft' ? -1 : 1;
  const places = added?.axis === axis && added.places.includes(anchor) ? added.places : [anchor];
  const [first, last] = [places[0], places[places.length - 1]];
  const end = (first < anchor ? first : last) + by;
  return writeSum(axis, placesBetween(anchor, Math.min(Math.max(end, 0), count - 1)));
}
