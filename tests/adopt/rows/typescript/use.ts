import { type Headlight, load, type Tensor } from 'headlight-attention';
import { readNpy, writeNpy } from 'headlight-attention/formats';
import { mount } from 'headlight-attention/view';

const [one, two]: [Headlight, Headlight] = [await load(), await load({ threads: 2 })];
const forward = (hl: Headlight): { output: Tensor; weights: Tensor } => {
  const layer = hl.multiHeadAttention({ embedDim: 128, numHeads: 4, seed: 1 });
  return layer.forward(hl.uniform([1, 200, 128], { seed: 1 }), { causal: true, weights: true });
};
const [a, b] = [forward(one), forward(two)];
const row = a.weights.data.subarray((3 * 200 + 7) * 200, (3 * 200 + 8) * 200);
const sum = row.reduce((total, x) => total + x, 0);
const copied = readNpy(writeNpy({ data: a.output.copy(), shape: a.output.shape }));
const said = {
  shape: a.output.shape,
  rows: Math.abs(sum - 1) < 1e-6 && row.slice(8).every((x) => x === 0),
  formats: a.output.data.every((x, i) => x === copied.data[i]),
  same: a.output.data.every((x, i) => x === b.output.data[i]),
  threads: two.info.threads,
  note: two.info.threadsNote ?? '',
};
if (typeof document !== 'undefined') mount(document.body, { attentions: a.weights, view: 'heads' });
two.dispose();
console.log(JSON.stringify(said));
