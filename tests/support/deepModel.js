// Makes a GPT-2 checkpoint with many layers and a long context but little width, with random weights, and texts for it.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeSafetensors } from 'headlight-attention/formats';
import { fillNormal, uniformSource } from '../../src/js/ops/random.ts';
import { GOLDEN } from './golden.js';

const VOCAB = 422;

/** @param {{ layers?: number, heads?: number, width?: number, context?: number }} sizes */
export function deepModel({ layers = 24, heads = 8, width = 64, context = 4096 } = {}) {
  const random = uniformSource(3);
  const tensors = {};
  const add = (name, ...shape) => {
    const data = new Float32Array(shape.reduce((a, b) => a * b, 1));
    if (/ln_\w+\.weight$/.test(name)) data.fill(1);
    else fillNormal(data, random, 0, 0.2);
    tensors[name] = { data, shape };
  };
  add('wte.weight', VOCAB, width);
  add('wpe.weight', context, width);
  for (let i = 0; i < layers; i++)
    for (const [name, ...shape] of [
      ['ln_1.weight', width],
      ['ln_1.bias', width],
      ['attn.c_attn.weight', width, 3 * width],
      ['attn.c_attn.bias', 3 * width],
      ['attn.c_proj.weight', width, width],
      ['attn.c_proj.bias', width],
      ['ln_2.weight', width],
      ['ln_2.bias', width],
      ['mlp.c_fc.weight', width, 4 * width],
      ['mlp.c_fc.bias', 4 * width],
      ['mlp.c_proj.weight', 4 * width, width],
      ['mlp.c_proj.bias', width],
    ])
      add(`h.${i}.${name}`, ...shape);
  add('ln_f.weight', width);
  add('ln_f.bias', width);
  const config = { model_type: 'gpt2', n_layer: layers, n_embd: width, n_head: heads, n_positions: context };
  return [
    { name: 'config.json', buffer: Buffer.from(JSON.stringify({ ...config, vocab_size: VOCAB })) },
    { name: 'model.safetensors', buffer: Buffer.from(writeSafetensors(tensors)) },
    { name: 'tokenizer.json', buffer: readFileSync(join(GOLDEN, 'tokenizers/bpe/tokenizer.json')) },
  ];
}

/** Returns a text of this many characters. @param {number} length */
export const longText = (length) =>
  'In port the first mate cried to his men. '.repeat(Math.ceil(length / 41)).slice(0, length);
