// The small transformer of the Universal Sentence Encoder. It maps a sentence to a vector of length 1, and sentences
// with similar meanings to vectors with similar directions. It has two blocks, whose norms come before attention and
// MLP, and takes the mean over the tokens:
//
//   x = table[ids] + sin and cos of position · frequencies          (B,T,256)
//   block 0: x = shortcut(x) + attention(norm1(x))                  (B,T,512)   256 wide inside, 4 heads
//            x = x + down(relu(up(norm2(x))))
//   block 1: x = x + attention(norm1(x))                            (B,T,512)   4 heads
//            x = x + down(relu(up(norm2(x))))
//   vector = tanh(pool(mean over tokens of x)), divided by its length
//
// Cer et al., "Universal Sentence Encoder", 2018. src/build/sentence.ts makes the file of the encoder.

import type { Tensor } from '../../../src/js/memory/tensor.ts';
import type { MultiHeadAttention } from '../../../src/js/ops/multihead.ts';
import type { Hl } from '../../model/types.ts';

export type Stored = { data: ArrayLike<number | bigint>; shape: readonly number[] };
export type BlockAttention = MultiHeadAttention;
/** computes the output of a layer's attention */
export type Attend = (layer: BlockAttention, x: Tensor) => Tensor;
/** vectors: (B,512). weights: the attention weights of each block (B,H,T,T). */
export type SentenceResult = { vectors: Tensor; weights: Tensor[] };
export type Layers = ReturnType<typeof createLayers>;

/** Maximum tokens that are read of a sentence. */
export const CONTEXT = 128;
const WIDTH = 512;
const NORM_EPS = 1e-6;
const MIN_LENGTH = 1e-6;
const BLOCKS = [
  { width: 256, numHeads: 4, mlp: 1536 },
  { width: WIDTH, numHeads: 4, mlp: 1536 },
];

/** Reads a tensor of the file as floats. Matrices may be integers with a scale for each row. */
function readFloats(tensors: Record<string, Stored>, name: string) {
  const tensor = tensors[name];
  if (!tensor) throw new Error(`the sentence encoder's file has no tensor ${name}`);
  const floats = new Float32Array(tensor.data as ArrayLike<number>);
  const scales = (tensors[`${name}.scale`]?.data ?? []) as ArrayLike<number>;
  for (let row = 0; row < scales.length; row++) {
    const end = (row + 1) * tensor.shape[1];
    for (let i = row * tensor.shape[1]; i < end; i++) floats[i] *= scales[row];
  }
  return floats;
}

function createLayers(hl: Hl, tensors: Record<string, Stored>) {
  const filled = <L extends { parameters: Readonly<Record<string, Tensor>> }>(prefix: string, layer: L) => {
    for (const [name, parameter] of Object.entries(layer.parameters))
      parameter.data.set(readFloats(tensors, `${prefix}.${name}`));
    return layer;
  };
  const norm = (name: string, width: number) => filled(name, hl.layerNorm({ width, eps: NORM_EPS }));
  const linear = (name: string, width: number, out: number) => filled(name, hl.linear({ in: width, out }));
  const attention = (name: string, width: number, numHeads: number) => {
    const widths = { headDim: width / numHeads, queryDim: width, keyDim: width, valueDim: width };
    return filled(name, hl.multiHeadAttention({ embedDim: WIDTH, numHeads, ...widths }));
  };
  return hl.scope(() => ({
    blocks: BLOCKS.map(({ width, numHeads, mlp }, l) => ({
      shortcut: width === WIDTH ? null : linear(`blocks.${l}.shortcut`, width, WIDTH),
      norm1: norm(`blocks.${l}.norm1`, width),
      attention: attention(`blocks.${l}.attention`, width, numHeads),
      norm2: norm(`blocks.${l}.norm2`, WIDTH),
      up: linear(`blocks.${l}.up`, WIDTH, mlp),
      down: linear(`blocks.${l}.down`, mlp, WIDTH),
    })),
    pool: linear('pool', WIDTH, WIDTH),
  }));
}

/** Computes token embeddings plus positions, (B,T,C), 0 after a sentence's end. `length`: of the longest sentence. */
function embed(
  { table, frequencies }: { table: Float32Array; frequencies: Float32Array },
  ids: number[][],
  length: number,
) {
  const width = 2 * frequencies.length;
  const x = new Float32Array(ids.length * length * width);
  ids.forEach((sentence, b) => {
    sentence.forEach((id, t) => {
      const row = x.subarray((b * length + t) * width, (b * length + t + 1) * width);
      row.set(table.subarray(id * width, (id + 1) * width));
      frequencies.forEach((frequency, i) => {
        // The angle is rounded to float32 as in the original model. At position 100, the last bit is worth 1e-5.
        const angle = Math.fround(t * frequency);
        row[i] += Math.sin(angle);
        row[frequencies.length + i] += Math.cos(angle);
      });
    });
  });
  return { data: x, shape: [ids.length, length, width] };
}

function runBlock(
  hl: Hl,
  { shortcut, norm1, attention, norm2, up, down }: Layers['blocks'][number],
  x: Tensor,
  attend: Attend,
) {
  const mid = hl.add(shortcut ? shortcut.forward(x) : x, attend(attention, norm1.forward(x)));
  const hidden = up.forward(norm2.forward(mid));
  hidden.data.forEach((value, i, data) => (data[i] = Math.max(value, 0)));
  return hl.add(mid, down.forward(hidden));
}

/** Computes the mean over the tokens of each sentence of (B,T,C). */
function mean({ data, shape: [, length] }: Tensor, ids: number[][]) {
  const out = new Float32Array(ids.length * WIDTH);
  ids.forEach((sentence, b) => {
    for (let c = 0; c < WIDTH; c++) {
      let sum = 0;
      for (let t = 0; t < sentence.length; t++) sum += data[(b * length + t) * WIDTH + c];
      out[b * WIDTH + c] = sum / Math.max(sentence.length, 1);
    }
  });
  return { data: out, shape: [ids.length, WIDTH] };
}

/** Replaces each row by its tanh, and divides that by its Euclidean length. */
function normalizeRows(data: Float32Array) {
  for (let start = 0; start < data.length; start += WIDTH) {
    const row = data.subarray(start, start + WIDTH);
    row.forEach((value, i) => (row[i] = Math.tanh(value)));
    const size = Math.max(Math.hypot(...row), MIN_LENGTH);
    row.forEach((value, i) => (row[i] = value / size));
  }
}

/** `tensors`: of the file. */
export function sentenceEncoder(hl: Hl, tensors: Record<string, Stored>) {
  const embedding = {
    table: readFloats(tensors, 'embedding.table'),
    frequencies: readFloats(tensors, 'embedding.frequencies'),
  };
  const { blocks, pool } = createLayers(hl, tensors);

  function forward(sentences: number[][], attend?: Attend): SentenceResult {
    const ids = sentences.map((sentence) => sentence.slice(0, CONTEXT));
    const length = Math.max(...ids.map((sentence) => sentence.length));
    const keyPadding = {
      data: ids.flatMap((sentence) => Array.from({ length }, (_, t) => (t < sentence.length ? 1 : 0))),
      shape: [ids.length, length],
    };
    const weights: Tensor[] = [];
    const ownAttention: Attend = (layer, normed) => {
      const own = layer.forward(normed, { keyPadding, weights: true });
      weights.push(own.weights);
      return own.output;
    };
    const { data, shape } = embed(embedding, ids, length);
    let x = hl.tensor(data, shape);
    for (const block of blocks) x = runBlock(hl, block, x, attend ?? ownAttention);
    const pooled = mean(x, ids);
    const vectors = pool.forward(hl.tensor(pooled.data, pooled.shape));
    normalizeRows(vectors.data);
    return { vectors, weights };
  }

  return {
    /**
     * `ids`: tokens of each sentence, at least one in all; `attend`: replaces the attention, and `weights` is empty.
     */
    forward: (ids: number[][], attend?: Attend): SentenceResult => hl.scope(() => forward(ids, attend)),

    dispose() {
      for (const block of blocks) for (const layer of Object.values(block)) layer?.dispose();
      pool.dispose();
    },
  };
}
