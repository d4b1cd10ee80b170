// Tests if the rows of attention weights sum to 1. If instead the columns do, the last two axes of the weights are
// swapped.

export type Weights = { data: ArrayLike<number>; shape: readonly number[] };

/** Tolerance for sums, because in half precision a row does not sum to exactly 1. */
const ROUNDING = 0.02;

/** Returns true if the rows or columns of a matrix sum to 1. Rows of zeros (no visible key) and rows with NaN pass. */
function linesSum(
  data: Weights['data'],
  how: { first: number; lines: number; step: number; along: number; count: number },
) {
  const { first, lines, step, along, count } = how;
  for (let i = 0; i < lines; i++) {
    let sum = 0;
    for (let j = 0; j < count; j++) sum += data[first + i * step + j * along];
    if (sum !== 0 && Math.abs(sum - 1) > ROUNDING) return false;
  }
  return true;
}

export function sumsOf(layers: readonly Weights[]): 'rows' | 'columns' | 'neither' {
  const every = (rows: boolean) =>
    layers.every(({ data, shape: [H, T, S] }) =>
      Array.from({ length: H }, (_, h) => h * T * S).every((first) =>
        rows
          ? linesSum(data, { first, lines: T, step: S, along: 1, count: S })
          : linesSum(data, { first, lines: S, step: 1, along: S, count: T }),
      ),
    );
  return every(true) ? 'rows' : every(false) ? 'columns' : 'neither';
}

/** Returns each head of each layer with rows and columns swapped. */
export const swapped = (layers: readonly Weights[]) =>
  layers.map(({ data, shape: [H, T, S] }) => {
    const to = new Float32Array(data.length);
    for (let h = 0; h < H; h++)
      for (let t = 0; t < T; t++) for (let s = 0; s < S; s++) to[(h * S + s) * T + t] = data[(h * T + t) * S + s];
    return { data: to, shape: [H, S, T] };
  });
