// Writes tiny checkpoints with random weights and real tokenizers, in the layout of Hugging Face.

import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeSafetensors } from 'headlight-attention/formats';
import { fillNormal, uniformSource } from '../../src/js/ops/random.ts';
import { GOLDEN } from './golden.js';

const [C, LAYERS] = [32, 2];
const linear = (name, out, inside) => ({ [`${name}.weight`]: [out, inside], [`${name}.bias`]: [out] });
const norm = (name) => ({ [`${name}.weight`]: [C], [`${name}.bias`]: [C] });
const blocks = (make) => Object.assign({}, ...Array.from({ length: LAYERS }, (_, i) => make(i)));

/** For each model: config.json, the shapes of its tensors, and the name of its tokenizer. */
const MODELS = {
  gpt2: {
    config: { model_type: 'gpt2', n_layer: LAYERS, n_embd: C, n_head: 4, n_positions: 64, vocab_size: 422 },
    tokenizer: 'bpe',
    shapes: {
      'wte.weight': [422, C],
      'wpe.weight': [64, C],
      ...blocks((i) => ({
        ...norm(`h.${i}.ln_1`),
        [`h.${i}.attn.c_attn.weight`]: [C, 3 * C],
        [`h.${i}.attn.c_attn.bias`]: [3 * C],
        [`h.${i}.attn.c_proj.weight`]: [C, C],
        [`h.${i}.attn.c_proj.bias`]: [C],
        ...norm(`h.${i}.ln_2`),
        [`h.${i}.mlp.c_fc.weight`]: [C, 4 * C],
        [`h.${i}.mlp.c_fc.bias`]: [4 * C],
        [`h.${i}.mlp.c_proj.weight`]: [4 * C, C],
        [`h.${i}.mlp.c_proj.bias`]: [C],
      })),
      ...norm('ln_f'),
    },
  },
  bert: {
    config: {
      model_type: 'bert',
      num_hidden_layers: LAYERS,
      hidden_size: C,
      num_attention_heads: 4,
      intermediate_size: 64,
      max_position_embeddings: 64,
      type_vocab_size: 2,
      vocab_size: 283,
      layer_norm_eps: 1e-12,
    },
    tokenizer: 'wordpiece',
    shapes: {
      'bert.embeddings.word_embeddings.weight': [283, C],
      'bert.embeddings.position_embeddings.weight': [64, C],
      'bert.embeddings.token_type_embeddings.weight': [2, C],
      ...norm('bert.embeddings.LayerNorm'),
      ...blocks((i) => {
        const at = `bert.encoder.layer.${i}`;
        return {
          ...linear(`${at}.attention.self.query`, C, C),
          ...linear(`${at}.attention.self.key`, C, C),
          ...linear(`${at}.attention.self.value`, C, C),
          ...linear(`${at}.attention.output.dense`, C, C),
          ...norm(`${at}.attention.output.LayerNorm`),
          ...linear(`${at}.intermediate.dense`, 64, C),
          ...linear(`${at}.output.dense`, C, 64),
          ...norm(`${at}.output.LayerNorm`),
        };
      }),
      ...linear('cls.predictions.transform.dense', C, C),
      ...norm('cls.predictions.transform.LayerNorm'),
      'cls.predictions.bias': [283],
    },
  },
  vit: {
    config: {
      model_type: 'vit',
      num_hidden_layers: LAYERS,
      hidden_size: C,
      num_attention_heads: 4,
      intermediate_size: 64,
      image_size: 32,
      patch_size: 8,
      num_channels: 3,
      layer_norm_eps: 1e-12,
      id2label: { 0: 'cat', 1: 'dog', 2: 'whale' },
    },
    shapes: {
      'vit.embeddings.cls_token': [1, 1, C],
      'vit.embeddings.position_embeddings': [1, 17, C],
      'vit.embeddings.patch_embeddings.projection.weight': [C, 3, 8, 8],
      'vit.embeddings.patch_embeddings.projection.bias': [C],
      ...blocks((i) => {
        const at = `vit.encoder.layer.${i}`;
        return {
          ...norm(`${at}.layernorm_before`),
          ...linear(`${at}.attention.attention.query`, C, C),
          ...linear(`${at}.attention.attention.key`, C, C),
          ...linear(`${at}.attention.attention.value`, C, C),
          ...linear(`${at}.attention.output.dense`, C, C),
          ...norm(`${at}.layernorm_after`),
          ...linear(`${at}.intermediate.dense`, 64, C),
          ...linear(`${at}.output.dense`, C, 64),
        };
      }),
      ...norm('vit.layernorm'),
      ...linear('classifier', 3, C),
    },
  },
  wav2vec2: {
    config: {
      ...{ model_type: 'wav2vec2', num_hidden_layers: LAYERS, hidden_size: C, num_attention_heads: 4 },
      ...{ intermediate_size: 64, conv_dim: new Array(7).fill(8), num_conv_pos_embeddings: 8, vocab_size: 6 },
      num_conv_pos_embedding_groups: 4,
    },
    shapes: {
      ...Object.assign(
        {},
        ...[10, 3, 3, 3, 3, 2, 2].map((kernel, i) => ({
          [`wav2vec2.feature_extractor.conv_layers.${i}.conv.weight`]: [8, i === 0 ? 1 : 8, kernel],
        })),
      ),
      'wav2vec2.feature_extractor.conv_layers.0.layer_norm.weight': [8],
      'wav2vec2.feature_extractor.conv_layers.0.layer_norm.bias': [8],
      'wav2vec2.feature_projection.layer_norm.weight': [8],
      'wav2vec2.feature_projection.layer_norm.bias': [8],
      ...linear('wav2vec2.feature_projection.projection', C, 8),
      'wav2vec2.encoder.pos_conv_embed.conv.weight_g': [1, 1, 8],
      'wav2vec2.encoder.pos_conv_embed.conv.weight_v': [C, C / 4, 8],
      'wav2vec2.encoder.pos_conv_embed.conv.bias': [C],
      ...norm('wav2vec2.encoder.layer_norm'),
      ...blocks((i) => {
        const at = `wav2vec2.encoder.layers.${i}`;
        return {
          ...{ ...linear(`${at}.attention.q_proj`, C, C), ...linear(`${at}.attention.k_proj`, C, C) },
          ...{ ...linear(`${at}.attention.v_proj`, C, C), ...linear(`${at}.attention.out_proj`, C, C) },
          ...{ ...norm(`${at}.layer_norm`), ...norm(`${at}.final_layer_norm`) },
          ...linear(`${at}.feed_forward.intermediate_dense`, 64, C),
          ...linear(`${at}.feed_forward.output_dense`, C, 64),
        };
      }),
      ...linear('lm_head', 6, C),
    },
  },
};

const TOWER = { hidden_size: C, num_hidden_layers: LAYERS, num_attention_heads: 4, intermediate_size: 64 };
const towerBlocks = (tower) =>
  blocks((i) => {
    const at = `${tower}.encoder.layers.${i}`;
    return {
      ...Object.assign({}, ...['q', 'k', 'v', 'out'].map((name) => linear(`${at}.self_attn.${name}_proj`, C, C))),
      ...{ ...norm(`${at}.layer_norm1`), ...norm(`${at}.layer_norm2`) },
      ...{ ...linear(`${at}.mlp.fc1`, 64, C), ...linear(`${at}.mlp.fc2`, C, 64) },
    };
  });
MODELS.clip = {
  config: {
    ...{ model_type: 'clip', projection_dim: 16 },
    text_config: { ...TOWER, vocab_size: 422, max_position_embeddings: 64, eos_token_id: 2 },
    vision_config: { ...TOWER, image_size: 32, patch_size: 8 },
  },
  tokenizer: 'bpe',
  shapes: {
    logit_scale: [],
    'text_model.embeddings.token_embedding.weight': [422, C],
    'text_model.embeddings.position_embedding.weight': [64, C],
    ...{ ...towerBlocks('text_model'), ...norm('text_model.final_layer_norm') },
    'text_projection.weight': [16, C],
    'vision_model.embeddings.class_embedding': [C],
    'vision_model.embeddings.patch_embedding.weight': [C, 3, 8, 8],
    'vision_model.embeddings.position_embedding.weight': [17, C],
    ...{ ...norm('vision_model.pre_layrnorm'), ...towerBlocks('vision_model'), ...norm('vision_model.post_layernorm') },
    'visual_projection.weight': [16, C],
  },
};

MODELS.siglip = {
  config: { ...MODELS.clip.config, model_type: 'siglip' },
  tokenizer: 'bpe',
  shapes: {
    ...{ logit_scale: [], logit_bias: [] },
    ...Object.fromEntries(Object.entries(MODELS.clip.shapes).filter(([name]) => !/projection|class|pre_/.test(name))),
    'vision_model.embeddings.position_embedding.weight': [16, C],
    'vision_model.embeddings.patch_embedding.bias': [C],
    ...linear('text_model.head', C, C),
    'vision_model.head.probe': [1, 1, C],
    'vision_model.head.attention.in_proj_weight': [3 * C, C],
    'vision_model.head.attention.in_proj_bias': [3 * C],
    ...{ ...linear('vision_model.head.attention.out_proj', C, C), ...norm('vision_model.head.layernorm') },
    ...{ ...linear('vision_model.head.mlp.fc1', 64, C), ...linear('vision_model.head.mlp.fc2', C, 64) },
  },
};

/** GPT-2 with a longer context; makeCheckpoint adds a chat template. */
MODELS.instruct = {
  ...MODELS.gpt2,
  config: { ...MODELS.gpt2.config, n_positions: 256 },
  shapes: { ...MODELS.gpt2.shapes, 'wpe.weight': [256, C] },
};

/** A chat template like those in the tokenizer_config.json of many models. */
const CHAT =
  "{% for m in messages %}{{ '<|im_start|>' + m.role + '\n' + m.content + '<|im_end|>\n' }}{% endfor %}" +
  "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}";

const PREPROCESSOR = {
  size: { height: 32, width: 32 },
  crop_size: { height: 32, width: 32 },
  resample: 2,
  image_mean: [0.5, 0.5, 0.5],
  image_std: [0.5, 0.5, 0.5],
};

const LETTERS = { '<pad>': 0, '<unk>': 1, '|': 2, A: 3, B: 4, C: 5 };
const SPEECH = { do_normalize: true, sampling_rate: 16000, feature_size: 1 };

const whisperAttention = (at) => ({
  ...{ ...linear(`${at}.q_proj`, C, C), [`${at}.k_proj.weight`]: [C, C] },
  ...{ ...linear(`${at}.v_proj`, C, C), ...linear(`${at}.out_proj`, C, C) },
  ...norm(`${at}_layer_norm`),
});
const whisperBlock = (at) => ({
  ...{ ...linear(`${at}.fc1`, 64, C), ...linear(`${at}.fc2`, C, 64) },
  ...{ ...norm(`${at}.final_layer_norm`), ...whisperAttention(`${at}.self_attn`) },
});
/**
 * Special tokens of Whisper, added after the 422 tokens of the tokenizer. With the random weights of this checkpoint,
 * German is the most probable language of every sound.
 */
const SPOKEN = ['startoftranscript', 'de', 'en', 'transcribe', 'translate', 'notimestamps', 'endoftext'];
MODELS.whisper = {
  config: {
    ...{ model_type: 'whisper', vocab_size: 422 + SPOKEN.length, num_mel_bins: 80, d_model: C },
    ...{ encoder_layers: LAYERS, encoder_attention_heads: 4, encoder_ffn_dim: 64, max_source_positions: 100 },
    ...{ decoder_layers: LAYERS, decoder_attention_heads: 4, decoder_ffn_dim: 64, max_target_positions: 24 },
    ...{ decoder_start_token_id: 422, eos_token_id: 428 },
  },
  tokenizer: 'bpe',
  shapes: {
    'model.encoder.conv1.weight': [C, 80, 3],
    'model.encoder.conv1.bias': [C],
    'model.encoder.conv2.weight': [C, C, 3],
    'model.encoder.conv2.bias': [C],
    'model.encoder.embed_positions.weight': [100, C],
    ...norm('model.encoder.layer_norm'),
    'model.decoder.embed_tokens.weight': [422 + SPOKEN.length, C],
    'model.decoder.embed_positions.weight': [24, C],
    ...norm('model.decoder.layer_norm'),
    ...blocks((i) => ({
      ...whisperBlock(`model.encoder.layers.${i}`),
      ...whisperBlock(`model.decoder.layers.${i}`),
      ...whisperAttention(`model.decoder.layers.${i}.encoder_attn`),
    })),
  },
};

/** Adds the tokens of Whisper to a tokenizer. The tokenizer adds no special tokens to a text. @param {string} file */
function addSpoken(file) {
  const tokenizer = JSON.parse(readFileSync(file, 'utf8'));
  const marks = { special: true, single_word: false, lstrip: false, rstrip: false, normalized: false };
  tokenizer.added_tokens.push(...SPOKEN.map((name, i) => ({ id: 422 + i, content: `<|${name}|>`, ...marks })));
  writeFileSync(file, JSON.stringify(tokenizer));
}

/** @param {string} folder @param {keyof typeof MODELS} name */
export function makeCheckpoint(folder, name) {
  const { config, shapes, tokenizer } = MODELS[name];
  const next = uniformSource(7);
  const tensors = Object.fromEntries(
    Object.entries(shapes).map(([name, shape]) => {
      const data = new Float32Array(shape.reduce((a, b) => a * b, 1));
      fillNormal(data, next, /(norm|ln_)\w*\.weight$/i.test(name) ? 1 : 0, 0.2);
      // Similarities are multiplied by the exponential of this parameter.
      if (name === 'logit_scale') data[0] = Math.log(5);
      return [name, { data, shape }];
    }),
  );
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'config.json'), JSON.stringify(config));
  writeFileSync(join(folder, 'model.safetensors'), writeSafetensors(tensors));
  if (['vit', 'clip', 'siglip'].includes(name))
    writeFileSync(join(folder, 'preprocessor_config.json'), JSON.stringify(PREPROCESSOR));
  if (name === 'whisper') writeFileSync(join(folder, 'preprocessor_config.json'), '{ "feature_size": 80 }');
  if (name === 'wav2vec2') {
    writeFileSync(join(folder, 'preprocessor_config.json'), JSON.stringify(SPEECH));
    writeFileSync(join(folder, 'vocab.json'), JSON.stringify(LETTERS));
  }
  if (name === 'instruct')
    writeFileSync(join(folder, 'tokenizer_config.json'), JSON.stringify({ chat_template: CHAT }));
  if (tokenizer) copyFileSync(join(GOLDEN, 'tokenizers', tokenizer, 'tokenizer.json'), join(folder, 'tokenizer.json'));
  if (name === 'whisper') addSpoken(join(folder, 'tokenizer.json'));
}
