// Gemma 3, the text model.

import {
  attentionBias,
  type Config,
  expectField,
  type Family,
  type HasTensor,
  readActivation,
  UnsupportedField,
  windowsByLayer,
} from './common.ts';
import { decoder, lmHeadKind } from './decoder.ts';
import { GEMMA2_GGUF, gemma2, plusOne } from './gemma.ts';
import { GGUF_HEAD_NORMS, llamaOptions } from './llama.ts';
import { DECODER_HEADS, type Published, SIZES } from './published.ts';
import { readRotary } from './rope.ts';

const DEFAULTS = {
  vocab_size: 262208,
  hidden_size: 2304,
  intermediate_size: 9216,
  num_hidden_layers: 26,
  num_attention_heads: 8,
  num_key_value_heads: 4,
  head_dim: 256,
  max_position_embeddings: 2 ** 17,
  query_pre_attn_scalar: 256,
  sliding_window: 4096,
};
const PICTURES = ['vision_tower', 'multi_modal_projector', 'model.vision_tower', 'model.multi_modal_projector'];
/** Tensors that show that a file has the parts for pictures. */
const OF_PICTURES = ['vision_model.post_layernorm.weight', 'mm_input_projection_weight'];

/** Returns the fields of the text model, which are nested in a config.json of text and pictures. */
function textFields({ text_config: nested, ...c }: Config, has: HasTensor): Config {
  if (!nested) return c;
  if (PICTURES.some((part) => OF_PICTURES.some((name) => has(`/${part}.${name}`))))
    throw new UnsupportedField('vision_config', c.vision_config, 'no tensors of a model that reads pictures');
  return { ...c, ...nested };
}

/**
 * Returns the rotary options. Layers with a window have a theta of their own; the scaling is for the other layers. The
 * fields may be flat, or have an entry for each type of layer.
 */
function rotaryByLayer(c: Config, headDim: number) {
  const { full_attention: far, sliding_attention: near, ...flat } = c.rope_parameters ?? {};
  expectField(near ?? {}, 'rope_type', 'default');
  const fields = far ?? (near ? {} : flat);
  const theta = fields.rope_theta ?? c.rope_theta ?? 1e6;
  return {
    ...readRotary({ ...c, rope_parameters: { ...fields, rope_theta: theta }, rope_theta: theta }, headDim),
    localTheta: near?.rope_theta ?? c.rope_local_base_freq ?? 10000,
  };
}

export const gemma3: Family = {
  name: 'gemma3',
  types: ['gemma3', 'gemma3_text'],
  gguf: { gemma3: { ...GEMMA2_GGUF, type: 'gemma3_text', names: { ...GEMMA2_GGUF.names, ...GGUF_HEAD_NORMS } } },
  prefixes: ['model.', '', 'language_model.model.', 'model.language_model.'],
  options: (config, has) =>
    decoder((fields, has) => {
      const c: Config = { ...DEFAULTS, ...fields };
      const bias = !!c.attention_bias;
      const tied = c.tie_word_embeddings ?? true;
      const every = c.sliding_window_pattern ?? c._sliding_window_pattern ?? 6;
      return {
        ...llamaOptions({ ...c, rope_parameters: undefined, rope_scaling: undefined }),
        rotary: rotaryByLayer(c, c.head_dim),
        activation: readActivation('hidden_activation', c.hidden_activation ?? 'gelu_pytorch_tanh'),
        bias: attentionBias(bias),
        embedScale: Math.sqrt(c.hidden_size),
        tied,
        head: lmHeadKind(has, tied),
        normPlace: 'both',
        queryKeyNorm: true,
        scale: c.query_pre_attn_scalar ** -0.5,
        softcap: c.attn_logit_softcapping ?? 0,
        logitSoftcap: c.final_logit_softcapping ?? 0,
        window: windowsByLayer(c, (i) => (i + 1) % every !== 0),
      };
    })(textFields(config, has), has),
  names: {
    ...gemma2.names,
    ...plusOne({
      'blocks.L.attention.normQ': 'layers.L.self_attn.q_norm',
      'blocks.L.attention.normK': 'layers.L.self_attn.k_norm',
    }),
  },
};

export const published = (): Published => ({
  gemma3: {
    models: ['Gemma (3, without pictures)'],
    heads: DECODER_HEADS,
    config: { ...SIZES, head_dim: 16, num_key_value_heads: 2, sliding_window: 8, query_pre_attn_scalar: 16 },
  },
});
