// Makes a checkpoint of GPT-2 whose heads have known roles, because their weights are set by hand: a head that attends
// to the previous token, an induction head, heads that attend to the first token, and one that attends evenly.

import { writeSafetensors } from 'headlight-attention/formats';

const [VOCAB, CONTEXT, HEADS, LAYERS] = [40, 128, 4, 2];
/** The residual stream has three one-hot parts: the token, the position, and the token before. */
const [TOKEN, POSITION, BEFORE] = [0, VOCAB, VOCAB + CONTEXT];
const C = 2 * VOCAB + CONTEXT;
const D = C / HEADS;
/** The scores of a key that a head looks for, and of the first token if there is no such key. */
const [FOUND, FIRST] = [12, 6];

/** The roles of the heads by layer and head. */
export const PLANTED = [
  ['previous', 'first', 'first', 'first'],
  ['induction', 'first', 'first', null],
];

const letters = 'abcdefghijklmnopqrstuvwxyz0123456789.,;';
/** A tokenizer with one token for each letter and for the space. */
const tokenizer = {
  version: '1.0',
  added_tokens: [],
  normalizer: null,
  pre_tokenizer: { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: true },
  post_processor: null,
  decoder: { type: 'ByteLevel' },
  model: { type: 'BPE', vocab: Object.fromEntries(['Ġ', ...letters].map((sign, i) => [sign, i])), merges: [] },
};

/** Makes the tensors of a layer. Each of `heads` is a role of PLANTED. ones: the number of ones in its input. */
function layerOf(heads, ones) {
  const mean = ones / C;
  const attention = { weight: new Float32Array(C * 3 * C), bias: new Float32Array(3 * C) };
  const output = new Float32Array(C * C);
  const set = (from, column, value) => {
    attention.weight[from * 3 * C + column] = value;
  };
  heads.forEach((role, h) => {
    const [q, k, v] = [0, 1, 2].map((part) => part * C + h * D);
    const scale = Math.sqrt(D);
    if (role === 'previous') {
      // The sum of the cosines of t − 1 − s for many frequencies is the largest for the key s = t − 1.
      for (let i = 0; i < D / 2; i++)
        for (let t = 0; t < CONTEXT; t++) {
          const angle = (position) => ((i + 0.5) / (D / 2)) * Math.PI * position;
          set(POSITION + t, q + 2 * i, scale * Math.cos(angle(t - 1)));
          set(POSITION + t, q + 2 * i + 1, scale * Math.sin(angle(t - 1)));
          set(POSITION + t, k + 2 * i, Math.cos(angle(t)));
          set(POSITION + t, k + 2 * i + 1, Math.sin(angle(t)));
        }
      for (let id = 0; id < VOCAB; id++) {
        set(TOKEN + id, v + id, 1);
        output[(h * D + id) * C + BEFORE + id] = 1;
      }
    }
    if (role === 'induction')
      for (let id = 0; id < VOCAB; id++) {
        set(TOKEN + id, q + id, scale * FOUND);
        set(BEFORE + id, k + id, 1);
        set(TOKEN + id, v + id, 1);
        output[(h * D + id) * C + TOKEN + id] = 3;
      }
    if (role === 'induction' || role === 'first') {
      attention.bias[q + VOCAB] = scale * (role === 'first' ? FOUND : FIRST);
      set(POSITION, k + VOCAB, 1);
    }
  });
  const norm = { weight: new Float32Array(C).fill(Math.sqrt(mean - mean ** 2)), bias: new Float32Array(C).fill(mean) };
  return { attention, output, norm };
}

/**
 * Makes the files of a checkpoint by name.
 * @param {(string | null)[][]} roles of the heads
 */
export function plantedFiles(roles = PLANTED) {
  const tensors = {};
  const add = (name, data, ...shape) => {
    tensors[name] = { data, shape };
  };
  const addNorm = (name, { weight, bias }) => {
    add(`${name}.weight`, weight, C);
    add(`${name}.bias`, bias, C);
  };
  const oneHot = (count, at) =>
    Float32Array.from({ length: count * C }, (_, i) => Number(i % C === at + Math.floor(i / C)));
  add('wte.weight', oneHot(VOCAB, TOKEN), VOCAB, C);
  add('wpe.weight', oneHot(CONTEXT, POSITION), CONTEXT, C);
  roles.forEach((heads, l) => {
    // The head for the previous token adds a third one.
    const { attention, output, norm } = layerOf(heads, roles[0].includes('previous') && l > 0 ? 3 : 2);
    addNorm(`h.${l}.ln_1`, norm);
    add(`h.${l}.attn.c_attn.weight`, attention.weight, C, 3 * C);
    add(`h.${l}.attn.c_attn.bias`, attention.bias, 3 * C);
    add(`h.${l}.attn.c_proj.weight`, output, C, C);
    add(`h.${l}.attn.c_proj.bias`, new Float32Array(C), C);
    addNorm(`h.${l}.ln_2`, norm);
    add(`h.${l}.mlp.c_fc.weight`, new Float32Array(C * 8), C, 8);
    add(`h.${l}.mlp.c_fc.bias`, new Float32Array(8), 8);
    add(`h.${l}.mlp.c_proj.weight`, new Float32Array(8 * C), 8, C);
    add(`h.${l}.mlp.c_proj.bias`, new Float32Array(C), C);
  });
  addNorm('ln_f', layerOf([], 3).norm);
  const config = {
    model_type: 'gpt2',
    n_layer: roles.length,
    n_embd: C,
    n_head: HEADS,
    n_inner: 8,
    n_positions: CONTEXT,
    vocab_size: VOCAB,
  };
  const json = (value) => new TextEncoder().encode(JSON.stringify(value));
  return {
    'config.json': json(config),
    'tokenizer.json': json(tokenizer),
    'model.safetensors': writeSafetensors(tensors),
  };
}

/** Makes a checkpoint in which every head attends to the first token. */
export const firstTokenFiles = () => plantedFiles(Array.from({ length: LAYERS }, () => new Array(HEADS).fill('first')));

/** Texts whose letters repeat, and others in which hardly anything repeats. */
export const TEXTS = [
  'the cat sat on the mat. the cat sat on the mat.',
  'abcdefghij klmnop qrstuv wxyz 0123456789',
  'one two three four, one two three five, one two six',
  'a quick brown fox jumps over the lazy dog; a quick brown dog jumps over the lazy fox.',
];
