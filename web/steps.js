// One cell followed back through the algorithm: its numbers, as the core gave them.

/** Row `row` of (B,H,N,D), as a view. */
function rowOf({ data, shape: [, H, N, D] }, batch, head, row) {
  const at = ((batch * H + head) * N + row) * D;
  return data.subarray(at, at + D);
}

const sumOf = (numbers) => numbers.reduce((a, b) => a + b, 0);

/**
 * Everything between the inputs and one weight, and between that weight and the output.
 * @param result an answer of the worker
 * @param {{ batch: number, head: number, cell: { query: number, key: number } }} where
 */
export function explain(result, { batch, head, cell }) {
  const { steps, weights, scores, scale, shape: [, H, T, S] } = result;
  const at = ((batch * H + head) * T + cell.query) * S;
  const row = (numbers) => numbers.subarray(at, at + S);
  const [q, k, v] = [rowOf(steps.q, batch, head, cell.query), rowOf(steps.k, batch, head, cell.key), rowOf(steps.v, batch, head, cell.key)];
  const seen = row(scores);
  const most = seen.reduce((a, b) => Math.max(a, b), -Infinity);
  const exponents = Array.from(seen, (score) => (score === -Infinity ? 0 : Math.exp(score - most)));
  const weight = row(weights)[cell.key];
  const [, , concatWidth] = steps.concat.shape;
  const D = steps.heads.shape[3];
  return {
    q, k, v,
    products: Array.from(q, (x, d) => x * k[d]),
    raw: row(steps.raw)[cell.key],
    factor: scale,
    scaled: row(steps.scaled)[cell.key],
    capped: row(steps.capped)[cell.key],
    masked: seen[cell.key],
    hidden: seen[cell.key] === -Infinity,
    most,
    exponent: exponents[cell.key],
    sum: sumOf(exponents),
    weight,
    weights: row(weights),
    contribution: Array.from(v, (x) => weight * x),
    heads: rowOf(steps.heads, batch, head, cell.query),
    concat: steps.concat.data.subarray((batch * T + cell.query) * concatWidth, (batch * T + cell.query + 1) * concatWidth),
    part: [head * D, (head + 1) * D],
    output: rowOf({ data: steps.output.data, shape: [1, steps.output.shape[0], T, steps.output.shape[2]] }, 0, batch, cell.query),
    projected: steps.output !== steps.concat,
  };
}
