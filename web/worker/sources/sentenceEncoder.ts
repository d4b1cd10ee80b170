// The Universal Sentence Encoder as a source. It maps a sentence to a vector, and the similarity of two sentences is
// the product of their vectors. Changes of the heads change the vectors.

import { readSafetensors } from '../../../src/js/io/safetensors.ts';
import type { Tensor } from '../../../src/js/memory/tensor.ts';
import { openTokenizer } from '../../../src/js/text/tokenizer.ts';
import { piecesOf } from '../../model/tokens.ts';
import { aboutHeads } from './attentionOnly.ts';
import { attend, project, splitHeads } from './headMath.ts';
import type { HeadsSource, Hl, LayerHeads, Run } from './types.ts';
import { type BlockAttention, CONTEXT, sentenceEncoder } from './universalEncoder.ts';

const HEADS = 4;
/** The file of the encoder, which has 7 MB. */
export const FILE = 'sentence.safetensors';
/** Maximum characters that are encoded for each token of the context. */
const CHARACTERS = 24;

export function sentenceSource(hl: Hl, bytes: Uint8Array): HeadsSource {
  const { tensors, metadata } = readSafetensors(bytes);
  const tokenizer = openTokenizer(new TextEncoder().encode(metadata.tokenizer));
  const encoder = sentenceEncoder(hl, tensors);

  /** Computes the pieces, the heads of each layer and the vector of a text. */
  function read(text: string, run: Run) {
    const encoding = tokenizer.encode(text.slice(0, CHARACTERS * CONTEXT));
    const ids = encoding.ids.slice(0, CONTEXT);
    const layers: LayerHeads[] = [];
    if (ids.length === 0) return { pieces: [], layers, cut: false, vector: null };
    const vector = hl.scope(() =>
      encoder.forward([ids], (attention, x) => attendInLayer(hl, attention, x, layers, run)).vectors.copy(),
    );
    const { offsets } = encoding;
    return { pieces: piecesOf(text, { ids, offsets }), layers, cut: encoding.ids.length > ids.length, vector };
  }

  return {
    about: aboutHeads('sentence', { layers: 2, heads: HEADS, context: CONTEXT, bytes: bytes.length }),
    dispose: () => encoder.dispose(),
    headInputs(_hl, run) {
      const { vector, ...inputs } = read(run.text, run);
      const second = run.second ? read(run.second, run).vector : null;
      const likeness = vector && second ? vector.reduce((sum, x, i) => sum + x * second[i], 0) : null;
      return { ...inputs, likeness };
    },
  };
}

/** Computes a layer's attention of x (1,T,C) with a run's changes. `layers`: gets the layer's queries, keys, values. */
function attendInLayer(hl: Hl, attention: BlockAttention, x: Tensor, layers: LayerHeads[], run: Run) {
  const [, T, C] = x.shape;
  const { wq, wk, wv, bq, bk, bv, bo } = attention.parameters;
  const wo = attention.parameters.wo as Tensor;
  const flat = { data: x.copy(), shape: [T, C] };
  const headsOf = (weight: Tensor, bias: Tensor | undefined) =>
    splitHeads(project(hl, flat, copied(weight), bias && copied(bias)), HEADS);
  const heads = { q: headsOf(wq, bq), k: headsOf(wk, bk), v: headsOf(wv, bv) };
  const layer = layers.push(heads) - 1;
  const D = heads.v.shape[2];
  const joined = new Float32Array(T * HEADS * D);
  for (let h = 0; h < HEADS; h++) {
    const { mixture } = attend(hl, heads, run, layer, h);
    for (let t = 0; t < T; t++) joined.set(mixture.subarray(t * D, (t + 1) * D), t * HEADS * D + h * D);
  }
  const input = { data: joined, shape: [T, HEADS * D] };
  const { data, shape } = project(hl, input, copied(wo), bo && copied(bo));
  return hl.tensor(data, [1, ...shape]);
}

const copied = (tensor: Tensor) => ({ data: tensor.copy(), shape: tensor.shape });
