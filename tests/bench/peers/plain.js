// Computes in plain JavaScript on Float32Arrays, with inner products of rows, written with some care for speed.

const dot = (a, i, b, j, n) => {
  let [s0, s1, s2, s3] = [0, 0, 0, 0];
  let d = 0;
  for (; d + 4 <= n; d += 4) {
    s0 += a[i + d] * b[j + d];
    s1 += a[i + d + 1] * b[j + d + 1];
    s2 += a[i + d + 2] * b[j + d + 2];
    s3 += a[i + d + 3] * b[j + d + 3];
  }
  for (; d < n; d++) s0 += a[i + d] * b[j + d];
  return s0 + s1 + s2 + s3;
};

function project(x, rows, width, weight, bias) {
  if (!weight) return x;
  const y = new Float32Array(rows * width);
  for (let r = 0; r < rows; r++)
    for (let o = 0; o < width; o++) y[r * width + o] = bias[o] + dot(x, r * width, weight, o * width, width);
  return y;
}

export function open() {
  return {
    name: 'plain JavaScript',
    async make({ shape, query, key, value, wq, wk, wv, wo, bq, bk, bv, bo }, withWeights) {
      const { batch, queries, keys, width, heads, causal } = shape;
      if (batch * queries * keys * width > 2 ** 22) return null;
      const head = width / heads;
      return {
        run() {
          const q = project(query, batch * queries, width, wq, bq);
          const k = project(key, batch * keys, width, wk, bk);
          const v = project(value, batch * keys, width, wv, bv);
          const joined = new Float32Array(batch * queries * width);
          const weights = withWeights ? new Float32Array(batch * heads * queries * keys) : undefined;
          const row = new Float32Array(keys);
          for (let b = 0; b < batch; b++)
            for (let h = 0; h < heads; h++)
              for (let t = 0; t < queries; t++) {
                const seen = causal ? t + 1 : keys;
                const at = (b * queries + t) * width + h * head;
                let most = -Infinity;
                for (let s = 0; s < seen; s++) {
                  row[s] = dot(q, at, k, (b * keys + s) * width + h * head, head) / Math.sqrt(head);
                  if (row[s] > most) most = row[s];
                }
                let sum = 0;
                for (let s = 0; s < seen; s++) sum += row[s] = Math.exp(row[s] - most);
                for (let s = 0; s < seen; s++) {
                  const w = row[s] / sum;
                  if (weights) weights[((b * heads + h) * queries + t) * keys + s] = w;
                  const from = (b * keys + s) * width + h * head;
                  for (let d = 0; d < head; d++) joined[at + d] += w * v[from + d];
                }
              }
          return { output: project(joined, batch * queries, width, wo, bo), weights };
        },
      };
    },
  };
}
