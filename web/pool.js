// From weights to as many cells as the screen has room for.

/**
 * A part of a matrix of weights as rows × columns cells, each the weight of largest magnitude that it covers: the
 * mean would lose a lone strong weight. NaN where every weight is hidden.
 * @param {{ weights: Float32Array, visible: Float32Array | null, S: number }} head 0 in `visible` hides
 * @param {{ queries: { from: number, to: number }, keys: { from: number, to: number } }} region
 * @param {{ rows: number, columns: number }} most
 * @returns {{ rows: number, columns: number, values: Float32Array }}
 */
export function pool({ weights, visible, S }, { queries, keys }, most) {
  const [T, N] = [queries.to - queries.from, keys.to - keys.from];
  const [rows, columns] = [Math.min(T, most.rows), Math.min(N, most.columns)];
  const values = new Float32Array(rows * columns).fill(NaN);
  const edges = Uint32Array.from({ length: columns + 1 }, (_, c) => keys.from + Math.floor((c * N) / columns));
  for (let r = 0; r < rows; r++) {
    const [from, to] = [queries.from + Math.floor((r * T) / rows), queries.from + Math.floor(((r + 1) * T) / rows)];
    for (let t = from; t < to; t++) {
      const row = t * S;
      for (let c = 0; c < columns; c++) {
        let value = values[r * columns + c];
        let size = Math.abs(value);
        for (let s = edges[c]; s < edges[c + 1]; s++) {
          const weight = weights[row + s];
          const magnitude = weight < 0 ? -weight : weight;
          if (magnitude <= size || (visible !== null && visible[row + s] === 0)) continue;
          value = weight;
          size = magnitude;
        }
        values[r * columns + c] = value;
      }
    }
  }
  return { rows, columns, values };
}

/** The largest magnitude among weights that may be NaN. */
export function largest(values) {
  let most = 0;
  for (const value of values) {
    const size = value < 0 ? -value : value;
    if (size > most) most = size;
  }
  return most;
}
