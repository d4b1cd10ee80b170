// The computation that the program of every row runs: a layer that returns its weights, on one thread and on two
// threads, which must give the same bits. It also writes a NumPy file and reads it again.

export async function computed({ load, readNpy, writeNpy }) {
  const [one, two] = await Promise.all([load(), load({ threads: 2 })]);
  const forward = (hl) => {
    const layer = hl.multiHeadAttention({ embedDim: 128, numHeads: 4, seed: 1 });
    return layer.forward(hl.uniform([1, 200, 128], { seed: 1 }), { causal: true, weights: true });
  };
  const [a, b] = [one, two].map(forward);
  const row = a.weights.toArray()[0][3][7];
  const sum = row.reduce((total, x) => total + x, 0);
  const copied = readNpy(writeNpy({ data: a.output.copy(), shape: a.output.shape }));
  const said = {
    shape: a.output.shape,
    rows: Math.abs(sum - 1) < 1e-6 && row.slice(8).every((x) => x === 0),
    formats: copied.data.every((x, i) => x === a.output.data[i]),
    same: a.output.data.every((x, i) => x === b.output.data[i]),
    threads: two.info.threads,
    note: two.info.threadsNote ?? '',
  };
  two.dispose();
  return said;
}
