// The Universal Sentence Encoder's small transformer: a sentence becomes a vector of length 1, and sentences of like
// meaning get vectors of like direction. Two blocks, norm before, then the mean over the tokens:
//
//   x = table[ids] + sin and cos of position · frequencies          (B,T,256)
//   block 0: x = shortcut(x) + attention(norm1(x))                  (B,T,512)   256 wide inside, 4 heads
//            x = x + down(relu(up(norm2(x))))
//   block 1: x = x + attention(norm1(x))                            (B,T,512)   4 heads
//            x = x + down(relu(up(norm2(x))))
//   vector = tanh(pool(mean over tokens of x)), divided by its length
//
// Cer et al., "Universal Sentence Encoder", 2018. src/build/sentence.js makes the file.

/** @import { Hl } from '../../store/types.js' */

/** @typedef {{ data: ArrayLike<any>, shape: readonly number[] }} Stored */
/** @typedef {ReturnType<Hl['tensor']>} HlTensor */
/**
 * vectors (B,512), weights of each block (B,H,T,T).
 * @typedef {{ vectors: HlTensor, weights: HlTensor[] }} SentenceResult
 */

/** What it reads of a sentence at most, in tokens. */
export const CONTEXT = 128;
const WIDTH = 512;
const NORM_EPS = 1e-6;
const LEAST_LENGTH = 1e-6;
const BLOCKS = [
  { width: 256, numHeads: 4, mlp: 1536 },
  { width: WIDTH, numHeads: 4, mlp: 1536 },
];

/**
 * A tensor of the file as floats; matrices may be integers with a scale for each row.
 * @param {Record<string, Stored>} tensors
 * @param {string} name
 */
function readFloats(tensors, name) {
  const tensor = tensors[name];
  if (!tensor) throw new Error(`the sentence encoder's file has no tensor ${name}`);
  const floats = new Float32Array(tensor.data);
  const scales = tensors[`${name}.scale`]?.data ?? [];
  for (let row = 0; row < scales.length; row++) {
    const end = (row + 1) * tensor.shape[1];
    for (let i = row * tensor.shape[1]; i < end; i++) floats[i] *= scales[row];
  }
  return floats;
}

/**
 * @param {Hl} hl
 * @param {Record<string, Stored>} tensors of the file
 */
export function sentenceEncoder(hl, tensors) {
  /** @template {{ parameters: Readonly<Record<string, any>> }} L @param {string} prefix @param {L} layer */
  const filled = (prefix, layer) => {
    for (const [name, parameter] of Object.entries(layer.parameters))
      parameter.data.set(readFloats(tensors, `${prefix}.${name}`));
    return layer;
  };
  /** @param {string} name @param {number} width */
  const norm = (name, width) => filled(name, hl.layerNorm({ width, eps: NORM_EPS }));
  /** @param {string} name @param {number} width @param {number} out */
  const linear = (name, width, out) => filled(name, hl.linear({ in: width, out }));

  const table = readFloats(tensors, 'embedding.table');
  const frequencies = readFloats(tensors, 'embedding.frequencies');
  const { blocks, pool } = hl.scope(() => ({
    blocks: BLOCKS.map(({ width, numHeads, mlp }, l) => ({
      shortcut: width === WIDTH ? null : linear(`blocks.${l}.shortcut`, width, WIDTH),
      norm1: norm(`blocks.${l}.norm1`, width),
      attention: filled(
        `blocks.${l}.attention`,
        hl.multiHeadAttention({
          embedDim: WIDTH,
          numHeads,
          headDim: width / numHeads,
          queryDim: width,
          keyDim: width,
          valueDim: width,
        }),
      ),
      norm2: norm(`blocks.${l}.norm2`, WIDTH),
      up: linear(`blocks.${l}.up`, WIDTH, mlp),
      down: linear(`blocks.${l}.down`, mlp, WIDTH),
    })),
    pool: linear('pool', WIDTH, WIDTH),
  }));

  /**
   * Rows of the table and positions; zeros where a sentence has ended.
   * @param {number[][]} ids
   * @param {number} length of the longest
   */
  function embed(ids, length) {
    const width = 2 * frequencies.length;
    const x = new Float32Array(ids.length * length * width);
    ids.forEach((sentence, b) => {
      sentence.forEach((id, t) => {
        const row = x.subarray((b * length + t) * width, (b * length + t + 1) * width);
        row.set(table.subarray(id * width, (id + 1) * width));
        frequencies.forEach((frequency, i) => {
          // The angle is a float32 there too: at position 100 its last bit is 1e-5.
          const angle = Math.fround(t * frequency);
          row[i] += Math.sin(angle);
          row[frequencies.length + i] += Math.cos(angle);
        });
      });
    });
    return hl.tensor(x, [ids.length, length, width]);
  }

  /** The mean over the tokens of each sentence. @param {HlTensor} x (B,T,C) @param {number[][]} ids */
  function mean({ data, shape: [, length] }, ids) {
    const out = new Float32Array(ids.length * WIDTH);
    ids.forEach((sentence, b) => {
      for (let c = 0; c < WIDTH; c++) {
        let sum = 0;
        for (let t = 0; t < sentence.length; t++) sum += data[(b * length + t) * WIDTH + c];
        out[b * WIDTH + c] = sum / Math.max(sentence.length, 1);
      }
    });
    return hl.tensor(out, [ids.length, WIDTH]);
  }

  /**
   * @param {number[][]} given the tokens of each sentence, at least one in all
   * @param {(layer: any, x: HlTensor) => HlTensor} [attend] what stands in the place of the layers' own attention
   * @returns {SentenceResult}
   */
  function forward(given, attend) {
    const ids = given.map((sentence) => sentence.slice(0, CONTEXT));
    const length = Math.max(...ids.map((sentence) => sentence.length));
    const keyPadding = {
      data: ids.flatMap((sentence) => Array.from({ length }, (_, t) => (t < sentence.length ? 1 : 0))),
      shape: [ids.length, length],
    };
    /** @type {HlTensor[]} */
    const seen = [];
    let x = embed(ids, length);
    for (const { shortcut, norm1, attention, norm2, up, down } of blocks) {
      const normed = norm1.forward(x);
      const own = attend ? null : attention.forward(normed, { keyPadding, weights: true });
      if (own) seen.push(own.weights);
      const output = own ? own.output : /** @type {any} */ (attend)(attention, normed);
      x = hl.add(shortcut ? shortcut.forward(x) : x, output);
      const inside = up.forward(norm2.forward(x));
      inside.data.forEach((value, i, data) => (data[i] = Math.max(value, 0)));
      x = hl.add(x, down.forward(inside));
    }
    const vectors = pool.forward(mean(x, ids));
    const { data } = vectors;
    for (let start = 0; start < data.length; start += WIDTH) {
      const row = data.subarray(start, start + WIDTH);
      row.forEach((value, i) => (row[i] = Math.tanh(value)));
      const size = Math.max(Math.hypot(...row), LEAST_LENGTH);
      row.forEach((value, i) => (row[i] = value / size));
    }
    return { vectors, weights: seen };
  }

  return {
    /**
     * @param {number[][]} ids the tokens of each sentence
     * @param {(layer: any, x: HlTensor) => HlTensor} [attend]
     * @returns {SentenceResult}
     */
    forward: (ids, attend) => hl.scope(() => forward(ids, attend)),

    dispose() {
      for (const block of blocks) for (const layer of Object.values(block)) layer?.dispose();
      pool.dispose();
    },
  };
}
