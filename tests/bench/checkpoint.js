// A checkpoint with random weights in the shape of a Llama, of a size that the benchmark chooses.

import { mkdir, open, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { uniformSource } from '../../src/js/ops/random.ts';

const CHUNK = 2 ** 20;

function shapesOf({ hidden_size: C, intermediate_size: mlp, vocab_size: vocab, num_hidden_layers: layers }) {
  const all = { 'model.embed_tokens.weight': [vocab, C], 'model.norm.weight': [C], 'lm_head.weight': [vocab, C] };
  for (let i = 0; i < layers; i++) {
    const at = `model.layers.${i}`;
    for (const letter of 'qkvo') all[`${at}.self_attn.${letter}_proj.weight`] = [C, C];
    for (const name of ['gate', 'up']) all[`${at}.mlp.${name}_proj.weight`] = [mlp, C];
    all[`${at}.mlp.down_proj.weight`] = [C, mlp];
    for (const name of ['input', 'post_attention']) all[`${at}.${name}_layernorm.weight`] = [C];
  }
  return all;
}

/**
 * Writes config.json and model.safetensors. The same random megabyte is repeated, because the values do not affect the
 * time.
 * @param {string} folder
 * @param {{ megabytes: number, type: 'BF16' | 'F32', width: number, mlp: number, vocab: number }} options
 * @returns {Promise<{ size: number, layers: number }>} size of the safetensors file
 */
export async function writeCheckpoint(folder, { megabytes, type, width, mlp, vocab }) {
  const bytes = type === 'F32' ? 4 : 2;
  const perLayer = bytes * (4 * width * width + 3 * width * mlp);
  const layers = Math.max(1, Math.round((megabytes * 1e6 - 2 * bytes * width * vocab) / perLayer));
  const config = {
    model_type: 'llama',
    hidden_size: width,
    intermediate_size: mlp,
    num_hidden_layers: layers,
    num_attention_heads: width / 64,
    num_key_value_heads: width / 64,
    vocab_size: vocab,
    max_position_embeddings: 2048,
    rms_norm_eps: 1e-5,
    hidden_act: 'silu',
    tie_word_embeddings: false,
  };
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'config.json'), JSON.stringify(config));
  const header = {};
  let size = 0;
  for (const [name, shape] of Object.entries(shapesOf(config))) {
    const length = bytes * shape.reduce((a, b) => a * b, 1);
    header[name] = { dtype: type, shape, data_offsets: [size, size + length] };
    size += length;
  }
  const next = uniformSource(1);
  const floats = Float32Array.from({ length: CHUNK / bytes }, () => 0.05 * (2 * next() - 1));
  const bits = new Uint32Array(floats.buffer);
  const part = new Uint8Array(bytes === 4 ? floats.buffer : Uint16Array.from(bits, (word) => word >>> 16).buffer);
  const text = Buffer.from(JSON.stringify(header));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(text.length));
  const file = await open(join(folder, 'model.safetensors'), 'w');
  await file.write(Buffer.concat([length, text]));
  for (let at = 0; at < size; at += CHUNK) await file.write(part, 0, Math.min(CHUNK, size - at));
  // The system can drop only those pages from its cache that have been written to the disk.
  await file.sync();
  await file.close();
  return { size: size + 8 + text.length, layers };
}
