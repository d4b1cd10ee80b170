// Runs TensorFlow.js with its WebAssembly backend.

export async function open(tf, wasm, { threads, path }) {
  wasm.setWasmPaths(path);
  wasm.setThreadsCount(threads);
  await tf.setBackend('wasm');
  await tf.ready();
  return {
    name: 'tfjs-backend-wasm',
    async make({ shape, self, query, key, value, ...parameters }, withWeights) {
      const { kind, batch, queries, keys, width, heads, causal } = shape;
      const head = width / heads;
      const weights = Object.fromEntries(
        Object.entries(parameters).map(([name, data]) => [
          name,
          name[0] === 'w' ? tf.tidy(() => tf.transpose(tf.tensor(data, [width, width]))) : tf.tensor(data, [width]),
        ]),
      );
      const mask =
        causal &&
        tf.tensor(
          Float32Array.from({ length: queries * keys }, (_, i) => (i % keys > Math.floor(i / keys) ? -1e9 : 0)),
          [queries, keys],
        );
      const project = (x, letter) =>
        kind === 'layer' ? tf.add(tf.matMul(x, weights[`w${letter}`]), weights[`b${letter}`]) : x;
      const split = (x, rows) => tf.transpose(tf.reshape(x, [batch, rows, heads, head]), [0, 2, 1, 3]);
      return {
        async run() {
          const [output, attended] = tf.tidy(() => {
            const x = tf.tensor(query, [batch * queries, width]);
            const y = self ? x : tf.tensor(key, [batch * keys, width]);
            const z = kind === 'layer' ? y : tf.tensor(value, [batch * keys, width]);
            const [q, k, v] = [
              split(project(x, 'q'), queries),
              split(project(y, 'k'), keys),
              split(project(z, 'v'), keys),
            ];
            const scaled = tf.mul(tf.matMul(q, k, false, true), 1 / Math.sqrt(head));
            const attended = tf.softmax(mask ? tf.add(scaled, mask) : scaled);
            const joined = tf.reshape(tf.transpose(tf.matMul(attended, v), [0, 2, 1, 3]), [batch * queries, width]);
            return [project(joined, 'o'), attended];
          });
          const result = { output: output.dataSync(), weights: withWeights ? attended.dataSync() : undefined };
          output.dispose();
          attended.dispose();
          return result;
        },
        close: () => tf.dispose([Object.values(weights), mask || []]),
      };
    },
  };
}
