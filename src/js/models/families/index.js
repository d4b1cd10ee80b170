// Families of checkpoints, as tables: which options a config.json means, and where each layer lies in the files.
//
// In names, L is the number of a block. A name is a layer's, .weight and .bias follow, or a tensor's whole; those that
// begin with / stand outside the prefix of the base model. q, k, v and o are the four products of attention.

import { quote } from '../../check/quote.js';

/** @import { RotaryScaling } from '../../ops/rotary.js' */
/** @import { TransformerOptions } from '../options.js' */

/** @typedef {Record<string, any>} Config */
/**
 * Where a layer lies: `part` of a tensor that holds several, `turned` if it is stored (in, out), `plus` what is added.
 * @typedef {{ from: string, part?: ['rows' | 'heads' | 'halves', number], turned?: boolean, plus?: number,
 *   form?: 'convolution' | 'stacked', also?: string | readonly string[] }} Place
 */
/** @typedef {Record<string, string | Place>} Names */
/**
 * @typedef {object} Family
 * @property {string} name
 * @property {readonly string[]} types of model, as config.json names them
 * @property {readonly string[]} prefixes of the base model
 * @property {(config: Config, has: (name: string) => boolean) => TransformerOptions} options
 * @property {Names} names
 * @property {readonly string[]} [constants] tensors that some files hold and that are no weights of their own: masks,
 *   copies. Those that many families have are in accounting.js
 * @property {readonly string[]} [others] layers and tensors of the base model that may be in a file and not be read
 * @property {{ without: string, family: Family }} [alone] the family of files without that tensor
 */

/** @param {string} from @param {'rows' | 'heads' | 'halves'} kind @returns {Place[]} */
const parts = (from, kind) => [0, 1, 2].map((i) => ({ from, part: [kind, i] }));
/** @param {Names} names @param {string} at @returns {Names} of q, k, v, o and what else begins like these */
const under = (names, at) => Object.fromEntries(Object.entries(names).map(([name, place]) => [`${at}.${name}`, place]));

/** The longest context that a model may have: nothing in its weights ends it. */
const ANY_LENGTH = 2 ** 20;
/** Blocks of a model at most. */
const MOST_LAYERS = 2 ** 20;
/** @type {Record<string, TransformerOptions['activation']>} */
const ACTIVATIONS = {
  gelu: 'gelu',
  gelu_python: 'gelu',
  gelu_new: 'gelu-tanh',
  gelu_fast: 'gelu-tanh',
  gelu_pytorch_tanh: 'gelu-tanh',
  quick_gelu: 'quick-gelu',
  relu: 'relu',
  silu: 'silu',
  swish: 'silu',
};

/** What a field of config.json says that Headlight does not know. */
export class UnknownField extends Error {
  /** @param {string} field @param {unknown} value @param {string} expected */
  constructor(field, value, expected) {
    super(`${field} is ${quote(value)}, expected ${expected}`);
    this.field = field;
  }
}

/** @param {string} field @param {unknown} value */
function activation(field, value) {
  const known = ACTIVATIONS[/** @type {string} */ (value)];
  if (!known) throw new UnknownField(field, value, `one of ${Object.keys(ACTIVATIONS).join(', ')}`);
  return known;
}

/** @param {Config} config @param {string} field @param {unknown[]} allowed of which the first is the default */
function only(config, field, ...allowed) {
  if (config[field] !== undefined && config[field] !== null && !allowed.includes(config[field]))
    throw new UnknownField(field, config[field], allowed.map((value) => quote(value)).join(' or '));
}

/**
 * What Hugging Face takes where a config.json says nothing; null says something.
 * @type {Record<string, Config>}
 */
const UNSAID = {
  llama: { max_position_embeddings: 2048 },
  mistral: { max_position_embeddings: 2 ** 17, sliding_window: 4096 },
  qwen2: { max_position_embeddings: 2 ** 15, sliding_window: 4096 },
  qwen3: { max_position_embeddings: 2 ** 15, sliding_window: 4096, head_dim: 128 },
  gemma: { max_position_embeddings: 8192, head_dim: 256 },
  gemma2: {
    max_position_embeddings: 8192,
    head_dim: 256,
    sliding_window: 4096,
    attn_logit_softcapping: 50,
    final_logit_softcapping: 30,
    query_pre_attn_scalar: 256,
  },
  phi: { max_position_embeddings: 2048 },
  phi3: { max_position_embeddings: 4096, rms_norm_eps: 1e-5 },
  gpt_neox: { max_position_embeddings: 2048 },
};

/** With what a config.json leaves out. @param {Family['options']} options @returns {Family['options']} */
const decoder = (options) => (c, has) => {
  only(c, 'is_causal', true);
  only(c, 'use_bidirectional_attention', false);
  return withClasses(options({ ...UNSAID[c.model_type], ...c }, has), c, has);
};

/**
 * The fields of rotary positions, in both of the forms in which configs have them.
 * @param {Config} config
 * @param {number} headDim
 */
function rotary(config, headDim) {
  const nested = config.rope_scaling ?? config.rope_parameters ?? {};
  if (Object.values(nested).some((value) => value && typeof value === 'object' && !Array.isArray(value)))
    throw new UnknownField('rope_parameters', nested, 'the same for all layers');
  const scaling = scalingOf(config);
  const theta = nested.rope_theta ?? config.rotary_emb_base ?? config.rope_theta ?? 10000;
  const share = nested.partial_rotary_factor ?? config.rotary_pct ?? config.partial_rotary_factor ?? 1;
  const width = Math.floor(headDim * share);
  if (!scaling) return { theta, width };
  const usual = ropeScaling(scaling, config);
  const beyond = scaling.original_max_position_embeddings ?? config.original_max_position_embeddings;
  if (usual?.type !== 'factors' || !scaling.long_factor || !beyond) return { theta, width, scaling: usual };
  return { theta, width, scaling: usual, long: { beyond, scaling: { ...usual, factors: scaling.long_factor } } };
}

/** @param {Config} config @returns {Config | null} */
function scalingOf({ rope_scaling: own, rope_parameters: nested }) {
  return own ?? ((nested?.rope_type ?? nested?.type ?? 'default') === 'default' ? null : nested);
}

/** @param {Config} scaling @param {Config} config @returns {RotaryScaling | undefined} */
function ropeScaling(scaling, config) {
  const type = scaling.rope_type ?? scaling.type;
  const originalContext =
    scaling.original_max_position_embeddings ??
    config.original_max_position_embeddings ??
    config.max_position_embeddings;
  const { factor } = scaling;
  // The dynamic one is for sequences beyond the context, which are refused.
  if (type === 'default' || type === 'dynamic') return undefined;
  if (type === 'linear') return { type, factor };
  if (type === 'llama3')
    return {
      type,
      factor,
      originalContext,
      lowFreqFactor: scaling.low_freq_factor,
      highFreqFactor: scaling.high_freq_factor,
    };
  if (type === 'yarn') {
    const { mscale, mscale_all_dim: ofAll } = scaling;
    const grown = (/** @type {number} */ scale) => (factor > 1 ? 0.1 * scale * Math.log(factor) + 1 : 1);
    const attentionFactor = scaling.attention_factor ?? (mscale && ofAll ? grown(mscale) / grown(ofAll) : undefined);
    return {
      type,
      factor,
      originalContext,
      betaFast: scaling.beta_fast ?? 32,
      betaSlow: scaling.beta_slow ?? 1,
      ...(attentionFactor !== undefined && { attentionFactor }),
      ...(scaling.truncate === false && { truncate: false }),
    };
  }
  if (type === 'longrope' || type === 'su') {
    // The factors of sequences within the context of training.
    const ratio = config.max_position_embeddings / originalContext;
    const times = config.original_max_position_embeddings ? ratio : (factor ?? ratio);
    const grown = times <= 1 ? 1 : Math.sqrt(1 + Math.log(times) / Math.log(originalContext));
    return { type: 'factors', factors: scaling.short_factor, attentionFactor: scaling.attention_factor ?? grown };
  }
  throw new UnknownField('rope_scaling', type ?? scaling, 'linear, dynamic, llama3, yarn or longrope');
}

/** @param {Config} c */
const rmsDecoder = (c) => {
  const headDim = c.head_dim ?? c.hidden_size / c.num_attention_heads;
  const turned = rotary(c, headDim);
  return {
    layers: c.num_hidden_layers,
    dModel: c.hidden_size,
    numHeads: c.num_attention_heads,
    kvHeads: c.num_key_value_heads ?? c.num_attention_heads,
    headDim,
    vocab: c.vocab_size,
    context: Math.min(c.max_position_embeddings, ANY_LENGTH),
    mlp: c.intermediate_size,
    norm: /** @type {const} */ ('rms'),
    normEps: c.rms_norm_eps ?? 1e-6,
    positions: /** @type {const} */ ('rotary'),
    rotary: turned,
    activation: activation('hidden_act', c.hidden_act ?? 'silu'),
    gated: true,
    bias: false,
    tied: c.tie_word_embeddings ?? false,
  };
};

/** Heads for classes of causal models. */
const CLASS_HEADS = ['score', 'classifier', 'qa_outputs'];
/** The head of a causal model, whichever it has. @param {string} own @returns {Place} */
const causalHead = (own) => ({ from: own, also: CLASS_HEADS.map((name) => `/${name}`) });

/**
 * Heads of causal models are left out where the file is the base model's, or has one for classes in their place.
 * @param {(name: string) => boolean} has
 * @param {boolean} tied
 * @param {string} [own]
 */
function headOf(has, tied, own = '/lm_head') {
  const other = CLASS_HEADS.some((name) => has(`/${name}.weight`));
  return /** @type {'logits' | 'none'} */ ((tied && !other) || has(`${own}.weight`) ? 'logits' : 'none');
}

/**
 * The head for classes of a causal model: of the last token that is no padding, and then without a bias, or of every
 * token.
 * @param {TransformerOptions} options
 * @param {Config} c
 * @param {(name: string) => boolean} has
 * @returns {TransformerOptions}
 */
function withClasses(options, c, has) {
  const name = CLASS_HEADS.find((name) => has(`/${name}.weight`));
  if (options.head !== 'none' || !name) return options;
  const head = has(`/${name}.bias`);
  const { dModel, headWidth = dModel, bias = BERT_BIAS } = options;
  /** @type {Partial<TransformerOptions>} */
  const ofLast = {
    head: 'pooled',
    pool: 'last',
    ...(Number.isInteger(c.pad_token_id) && c.pad_token_id >= 0 && { poolSkip: c.pad_token_id }),
    ...(headWidth !== dModel && { pooler: 'linear', poolDim: headWidth }),
  };
  const ofTokens = name !== 'score' || head || isFor(c, 'TokenClassification');
  return {
    ...options,
    .../** @type {Partial<TransformerOptions>} */ (ofTokens ? { head: 'logits' } : ofLast),
    classes: classesOf(c),
    tied: false,
    logitSoftcap: 0,
    bias: { .../** @type {object} */ (bias), head },
  };
}

const LLAMA = {
  'embedding.table': 'embed_tokens.weight',
  'blocks.L.norm1': 'layers.L.input_layernorm',
  'blocks.L.norm2': 'layers.L.post_attention_layernorm',
  ...under(
    {
      q: 'layers.L.self_attn.q_proj',
      k: 'layers.L.self_attn.k_proj',
      v: 'layers.L.self_attn.v_proj',
      o: 'layers.L.self_attn.o_proj',
    },
    'blocks.L.attention',
  ),
  'blocks.L.gate': 'layers.L.mlp.gate_proj',
  'blocks.L.up': 'layers.L.mlp.up_proj',
  'blocks.L.down': 'layers.L.mlp.down_proj',
  norm: 'norm',
  head: causalHead('/lm_head'),
};

/** Those for answers have transformer. before theirs. */
const LLAMA_PREFIXES = ['model.', '', 'transformer.'];

/** @param {Config} c @param {boolean} [on] */
const slidingWindow = (c, on = true) => (on && c.sliding_window ? c.sliding_window : null);

/** @type {Family} */
const llama = {
  name: 'llama',
  types: ['llama', 'smollm', 'mistral'],
  prefixes: LLAMA_PREFIXES,
  options: decoder((c, has) => ({
    ...rmsDecoder(c),
    head: headOf(has, c.tie_word_embeddings ?? false),
    bias: {
      query: !!c.attention_bias,
      key: !!c.attention_bias,
      value: !!c.attention_bias,
      out: !!c.attention_bias,
      mlp: !!c.mlp_bias,
    },
    window: slidingWindow(c, c.model_type === 'mistral'),
  })),
  names: LLAMA,
};

/**
 * @template T
 * @param {number} layers as many as a config.json says: what no model may have is refused afterwards
 * @param {(layer: number) => T} of
 */
const eachLayer = (layers, of) => Array.from({ length: Math.min(layers, MOST_LAYERS) }, (_, i) => of(i));

/**
 * The window of each layer that has one.
 * @param {Config} c
 * @param {(layer: number) => boolean} has where layer_types says nothing
 */
function windowsByLayer({ layer_types: types, num_hidden_layers: layers, sliding_window: window }, has) {
  const known = ['full_attention', 'sliding_attention'];
  if (types && !(Array.isArray(types) && types.length === layers && types.every((type) => known.includes(type))))
    throw new UnknownField('layer_types', types, `${known.join(' or ')} for each of ${layers} layers`);
  const local = types ? (/** @type {number} */ i) => types[i] === known[1] : has;
  return eachLayer(layers, (i) => (local(i) ? window : null));
}

/** @param {Config} c */
const qwenWindow = (c) => {
  const windows = windowsByLayer(c, (i) => i >= (c.max_window_layers ?? 28));
  return c.use_sliding_window && c.sliding_window ? windows : null;
};

/** @type {Family} */
const qwen2 = {
  name: 'qwen2',
  types: ['qwen2'],
  prefixes: LLAMA_PREFIXES,
  options: decoder((c, has) => ({
    ...rmsDecoder(c),
    head: headOf(has, c.tie_word_embeddings ?? false),
    bias: { query: true, key: true, value: true },
    window: qwenWindow(c),
  })),
  names: LLAMA,
};

/** @type {Family} */
const qwen3 = {
  name: 'qwen3',
  types: ['qwen3'],
  prefixes: LLAMA_PREFIXES,
  options: decoder((c, has) => {
    const bias = !!c.attention_bias;
    return {
      ...rmsDecoder(c),
      head: headOf(has, c.tie_word_embeddings ?? false),
      bias: { query: bias, key: bias, value: bias, out: bias },
      queryKeyNorm: true,
      window: qwenWindow(c),
    };
  }),
  names: {
    ...LLAMA,
    ...under({ normQ: 'layers.L.self_attn.q_norm', normK: 'layers.L.self_attn.k_norm' }, 'blocks.L.attention'),
  },
};

/** RMS norms of Gemma multiply by 1 + weight. @param {Names} names @returns {Names} */
const plusOne = (names) =>
  Object.fromEntries(
    Object.entries(names).map(([name, from]) => [name, { from: /** @type {string} */ (from), plus: 1 }]),
  );

/** @type {Family} */
const gemma = {
  name: 'gemma',
  types: ['gemma', 'gemma2'],
  prefixes: ['model.', ''],
  options: decoder((c, has) => {
    const second = c.model_type === 'gemma2';
    const bias = !!c.attention_bias;
    // The first files said gelu where the approximation is meant; the second Gemma does not read it.
    const hiddenAct = second || c.hidden_act === 'gelu' ? undefined : c.hidden_act;
    const tied = c.tie_word_embeddings ?? true;
    return {
      ...rmsDecoder(c),
      activation: activation('hidden_activation', c.hidden_activation ?? hiddenAct ?? 'gelu_pytorch_tanh'),
      bias: { query: bias, key: bias, value: bias, out: bias },
      embedScale: Math.sqrt(c.hidden_size),
      tied,
      head: headOf(has, tied),
      ...(second && {
        normPlace: /** @type {const} */ ('both'),
        scale: c.query_pre_attn_scalar ** -0.5,
        softcap: c.attn_logit_softcapping ?? 0,
        logitSoftcap: c.final_logit_softcapping ?? 0,
        window: windowsByLayer(c, (i) => i % 2 === 0),
      }),
    };
  }),
  names: {
    ...LLAMA,
    ...plusOne({
      'blocks.L.norm1': 'layers.L.input_layernorm',
      'blocks.L.after1': 'layers.L.post_attention_layernorm',
      'blocks.L.norm2': 'layers.L.pre_feedforward_layernorm',
      'blocks.L.after2': 'layers.L.post_feedforward_layernorm',
      norm: 'norm',
    }),
  },
};

/** The first Gemma has two norms in a block. @type {Family} */
const gemma1 = {
  ...gemma,
  types: ['gemma'],
  names: { ...gemma.names, ...plusOne({ 'blocks.L.norm2': 'layers.L.post_attention_layernorm' }) },
};

/** Attention and feed-forward side by side, after one norm. @type {Family} */
const phi = {
  name: 'phi',
  types: ['phi'],
  prefixes: ['model.', ''],
  options: decoder((c, has) => {
    only(c, 'qk_layernorm', false);
    const tied = c.tie_word_embeddings ?? false;
    return {
      layers: c.num_hidden_layers,
      dModel: c.hidden_size,
      numHeads: c.num_attention_heads,
      kvHeads: c.num_key_value_heads ?? c.num_attention_heads,
      vocab: c.vocab_size,
      context: Math.min(c.max_position_embeddings, ANY_LENGTH),
      mlp: c.intermediate_size ?? 8192,
      normEps: c.layer_norm_eps ?? 1e-5,
      normPlace: 'parallel',
      sharedNorm: true,
      positions: 'rotary',
      rotary: rotary({ partial_rotary_factor: 0.5, ...c }, c.hidden_size / c.num_attention_heads),
      activation: activation('hidden_act', c.hidden_act ?? 'gelu_new'),
      bias: { query: true, key: true, value: true, out: true, mlp: true, head: has('/lm_head.bias') },
      tied,
      head: headOf(has, tied),
    };
  }),
  names: {
    ...LLAMA,
    ...under({ o: 'layers.L.self_attn.dense' }, 'blocks.L.attention'),
    'blocks.L.up': 'layers.L.mlp.fc1',
    'blocks.L.down': 'layers.L.mlp.fc2',
    norm: 'final_layernorm',
  },
};

const [phiQ, phiK, phiV] = parts('layers.L.self_attn.qkv_proj', 'rows');
/** @type {Family} */
const phi3 = {
  name: 'phi3',
  types: ['phi3'],
  prefixes: ['model.', ''],
  options: decoder((c, has) => ({
    ...rmsDecoder(
      scalingOf(c)?.original_max_position_embeddings ? c : { original_max_position_embeddings: 4096, ...c },
    ),
    head: headOf(has, c.tie_word_embeddings ?? false),
    window: slidingWindow(c),
  })),
  names: {
    ...LLAMA,
    ...under({ q: phiQ, k: phiK, v: phiV }, 'blocks.L.attention'),
    'blocks.L.gate': { from: 'layers.L.mlp.gate_up_proj', part: ['halves', 0] },
    'blocks.L.up': { from: 'layers.L.mlp.gate_up_proj', part: ['halves', 1] },
  },
};

const [gptQ, gptK, gptV] = parts('h.L.attn.c_attn', 'rows').map((place) => ({ ...place, turned: true }));
/** @param {Config} c */
function gptScale(c) {
  const scale = (c.scale_attn_weights ?? true) ? (c.n_embd / c.n_head) ** -0.5 : 1;
  return c.scale_attn_by_inverse_layer_idx ? eachLayer(c.n_layer, (i) => scale / (i + 1)) : scale;
}

/** @type {Family} */
const gpt2 = {
  name: 'gpt2',
  types: ['gpt2'],
  prefixes: ['transformer.', ''],
  options: decoder((c, has) => {
    only(c, 'add_cross_attention', false);
    const tied = c.tie_word_embeddings ?? true;
    return {
      layers: c.n_layer,
      dModel: c.n_embd,
      numHeads: c.n_head,
      vocab: c.vocab_size,
      context: c.n_positions ?? c.n_ctx,
      mlp: c.n_inner ?? 4 * c.n_embd,
      normEps: c.layer_norm_epsilon,
      activation: activation('activation_function', c.activation_function ?? 'gelu_new'),
      ...((c.scale_attn_weights === false || c.scale_attn_by_inverse_layer_idx) && { scale: gptScale(c) }),
      tied,
      head: headOf(has, tied),
    };
  }),
  names: {
    'embedding.table': 'wte.weight',
    'embedding.position': 'wpe.weight',
    'blocks.L.norm1': 'h.L.ln_1',
    ...under({ q: gptQ, k: gptK, v: gptV, o: { from: 'h.L.attn.c_proj', turned: true } }, 'blocks.L.attention'),
    'blocks.L.norm2': 'h.L.ln_2',
    'blocks.L.up': { from: 'h.L.mlp.c_fc', turned: true },
    'blocks.L.down': { from: 'h.L.mlp.c_proj', turned: true },
    norm: 'ln_f',
    head: causalHead('/lm_head'),
  },
  constants: ['h.L.attn.bias'],
};

/** @type {Family} */
const opt = {
  name: 'opt',
  types: ['opt'],
  prefixes: ['model.decoder.', 'decoder.'],
  options: decoder((c, has) => {
    const bias = c.enable_bias ?? true;
    const affine = c.layer_norm_elementwise_affine ?? true;
    const before = c.do_layer_norm_before ?? true;
    const tied = c.tie_word_embeddings ?? true;
    return {
      layers: c.num_hidden_layers,
      dModel: c.hidden_size,
      embedDim: c.word_embed_proj_dim ?? c.hidden_size,
      headWidth: c.word_embed_proj_dim ?? c.hidden_size,
      numHeads: c.num_attention_heads,
      vocab: c.vocab_size,
      context: c.max_position_embeddings,
      positionOffset: 2,
      mlp: c.ffn_dim,
      normPlace: before ? 'before' : 'after',
      finalNorm: before && !c._remove_final_layer_norm,
      activation: activation('activation_function', c.activation_function ?? 'relu'),
      normScale: affine,
      bias: { query: bias, key: bias, value: bias, out: bias, mlp: bias, norm: affine },
      tied,
      head: headOf(has, tied),
    };
  }),
  names: {
    'embedding.table': 'embed_tokens.weight',
    'embedding.position': 'embed_positions.weight',
    'embedding.project': 'project_in',
    'head.project': 'project_out',
    pooler: 'project_out',
    'blocks.L.norm1': 'layers.L.self_attn_layer_norm',
    ...under(
      {
        q: 'layers.L.self_attn.q_proj',
        k: 'layers.L.self_attn.k_proj',
        v: 'layers.L.self_attn.v_proj',
        o: 'layers.L.self_attn.out_proj',
      },
      'blocks.L.attention',
    ),
    'blocks.L.norm2': 'layers.L.final_layer_norm',
    'blocks.L.up': 'layers.L.fc1',
    'blocks.L.down': 'layers.L.fc2',
    norm: 'final_layer_norm',
    head: causalHead('/lm_head'),
  },
  others: ['project_out'],
};

const [bloomQ, bloomK, bloomV] = parts('h.L.self_attention.query_key_value', 'heads');
/** @type {Family} */
const bloom = {
  name: 'bloom',
  types: ['bloom'],
  prefixes: ['transformer.', ''],
  options: decoder((c, has) => {
    const dModel = c.n_embed ?? c.hidden_size;
    const tied = c.tie_word_embeddings ?? true;
    return {
      layers: c.n_layer ?? c.num_hidden_layers,
      dModel,
      numHeads: c.n_head ?? c.num_attention_heads,
      vocab: c.vocab_size,
      context: ANY_LENGTH,
      mlp: 4 * dModel,
      normEps: c.layer_norm_epsilon,
      normPlace: c.apply_residual_connection_post_layernorm ? 'stream' : 'before',
      embedNorm: true,
      positions: 'alibi',
      activation: 'gelu-tanh',
      tied,
      head: headOf(has, tied),
    };
  }),
  names: {
    'embedding.table': 'word_embeddings.weight',
    'embedding.norm': 'word_embeddings_layernorm',
    'blocks.L.norm1': 'h.L.input_layernorm',
    ...under({ q: bloomQ, k: bloomK, v: bloomV, o: 'h.L.self_attention.dense' }, 'blocks.L.attention'),
    'blocks.L.norm2': 'h.L.post_attention_layernorm',
    'blocks.L.up': 'h.L.mlp.dense_h_to_4h',
    'blocks.L.down': 'h.L.mlp.dense_4h_to_h',
    norm: 'ln_f',
    head: causalHead('/lm_head'),
  },
};

const [neoxQ, neoxK, neoxV] = parts('layers.L.attention.query_key_value', 'heads');
/** @type {Family} */
const neox = {
  name: 'gpt_neox',
  types: ['gpt_neox'],
  prefixes: ['gpt_neox.', ''],
  options: decoder((c, has) => {
    const bias = c.attention_bias ?? true;
    const tied = c.tie_word_embeddings ?? false;
    return {
      layers: c.num_hidden_layers,
      dModel: c.hidden_size,
      numHeads: c.num_attention_heads,
      vocab: c.vocab_size,
      context: c.max_position_embeddings,
      mlp: c.intermediate_size,
      normEps: c.layer_norm_eps,
      normPlace: (c.use_parallel_residual ?? true) ? 'parallel' : 'before',
      positions: 'rotary',
      rotary: rotary({ partial_rotary_factor: 0.25, ...c }, c.hidden_size / c.num_attention_heads),
      activation: activation('hidden_act', c.hidden_act ?? 'gelu'),
      bias: { query: bias, key: bias, value: bias, out: bias, mlp: true },
      tied,
      head: headOf(has, tied, '/embed_out'),
    };
  }),
  names: {
    'embedding.table': 'embed_in.weight',
    'blocks.L.norm1': 'layers.L.input_layernorm',
    ...under({ q: neoxQ, k: neoxK, v: neoxV, o: 'layers.L.attention.dense' }, 'blocks.L.attention'),
    'blocks.L.norm2': 'layers.L.post_attention_layernorm',
    'blocks.L.up': 'layers.L.mlp.dense_h_to_4h',
    'blocks.L.down': 'layers.L.mlp.dense_4h_to_h',
    norm: 'final_layer_norm',
    head: causalHead('/embed_out'),
  },
  constants: ['layers.L.attention.bias'],
};

const BERT_LAYER = {
  ...under(
    {
      q: 'encoder.layer.L.attention.self.query',
      k: 'encoder.layer.L.attention.self.key',
      v: 'encoder.layer.L.attention.self.value',
      o: 'encoder.layer.L.attention.output.dense',
    },
    'blocks.L.attention',
  ),
  'embedding.table': 'embeddings.word_embeddings.weight',
  'embedding.position': 'embeddings.position_embeddings.weight',
  'embedding.type': 'embeddings.token_type_embeddings.weight',
  'embedding.norm': 'embeddings.LayerNorm',
  'blocks.L.norm1': 'encoder.layer.L.attention.output.LayerNorm',
  'blocks.L.up': 'encoder.layer.L.intermediate.dense',
  'blocks.L.down': 'encoder.layer.L.output.dense',
  'blocks.L.norm2': 'encoder.layer.L.output.LayerNorm',
};

/** @param {Config} c */
function bertOptions(c) {
  only(c, 'position_embedding_type', 'absolute');
  only(c, 'add_cross_attention', false);
  only(c, 'embedding_size', c.hidden_size);
  return {
    layers: c.num_hidden_layers,
    dModel: c.hidden_size,
    numHeads: c.num_attention_heads,
    vocab: c.vocab_size,
    mlp: c.intermediate_size,
    causal: !!c.is_decoder,
    normEps: c.layer_norm_eps ?? 1e-12,
    normPlace: /** @type {const} */ ('after'),
    embedNorm: true,
    activation: activation('hidden_act', c.hidden_act ?? 'gelu'),
    tokenTypes: c.type_vocab_size ?? 2,
  };
}
const BERT_BIAS = { query: true, key: true, value: true, out: true, mlp: true, norm: true, head: true };

/** @param {Config} c @param {string} task */
const isFor = ({ architectures }, task) =>
  Array.isArray(architectures) && architectures.some((name) => String(name).endsWith(`For${task}`));

/** @param {Config} c @returns {number} */
const classesOf = (c) =>
  isFor(c, 'MultipleChoice') ? 1 : c.id2label ? Object.keys(c.id2label).length : (c.num_labels ?? 2);

/** The head for masked tokens. @param {Config} c @returns {Partial<TransformerOptions>} */
const maskedHead = (c) => ({ head: 'logits', headTransform: 'norm', tied: c.tie_word_embeddings ?? true });

/**
 * The head for classes of every token, or of all together, for which there is a pooler. An answer is two numbers for
 * every token: whether it begins there, and whether it ends there.
 * @param {Config} c
 * @param {(name: string) => boolean} has
 * @param {boolean} pooled
 * @returns {Partial<TransformerOptions>}
 */
function classHead(c, has, pooled) {
  const classes = classesOf(c);
  if (has('/qa_outputs.weight')) return { head: 'logits', classes };
  if (!has('/classifier.weight') && !has('/classifier.out_proj.weight')) return { head: 'none' };
  return { head: pooled && !isFor(c, 'TokenClassification') ? 'pooled' : 'logits', classes };
}

/** @type {Family} */
const bert = {
  name: 'bert',
  types: ['bert'],
  prefixes: ['bert.', ''],
  options: (c, has) => {
    // Some files hold a part of the head: that is none.
    const part = (/** @type {string} */ name) => has(`/cls.predictions.${name}`);
    const masked =
      part('transform.dense.weight') && part('transform.dense.bias') && (part('bias') || part('decoder.bias'));
    const pooled = has('pooler.dense.weight');
    return {
      ...bertOptions(c),
      context: c.max_position_embeddings,
      bias: BERT_BIAS,
      ...(pooled && { pool: 'first', pooler: 'tanh' }),
      ...(masked ? maskedHead(c) : classHead(c, has, pooled)),
      ...(pooled && has('/cls.seq_relationship.weight') && { relationship: 2 }),
    };
  },
  names: {
    ...BERT_LAYER,
    pooler: 'pooler.dense',
    'head.dense': '/cls.predictions.transform.dense',
    'head.norm': '/cls.predictions.transform.LayerNorm',
    head: { from: '/cls.predictions.decoder', also: ['/cls.predictions', '/classifier', '/qa_outputs'] },
    relationship: '/cls.seq_relationship',
  },
  constants: ['/cls.predictions.bias', '/cls.predictions.decoder.bias'],
};

/** @type {Family} */
const roberta = {
  name: 'roberta',
  types: ['roberta', 'xlm-roberta', 'camembert'],
  prefixes: ['roberta.', ''],
  options: (c, has) => {
    const positionOffset = (c.pad_token_id ?? 1) + 1;
    const masked = has('/lm_head.dense.weight');
    const pooled = has('/classifier.dense.weight') || has('pooler.dense.weight');
    return {
      ...bertOptions(c),
      context: c.max_position_embeddings - positionOffset,
      positionOffset,
      padToken: positionOffset - 1,
      bias: BERT_BIAS,
      ...(pooled && { pool: 'first', pooler: 'tanh' }),
      ...(masked ? { ...maskedHead(c), headActivation: 'gelu' } : classHead(c, has, pooled)),
    };
  },
  names: {
    ...BERT_LAYER,
    pooler: { from: '/classifier.dense', also: 'pooler.dense' },
    'head.dense': '/lm_head.dense',
    'head.norm': '/lm_head.layer_norm',
    head: { from: '/lm_head.decoder', also: ['/lm_head', '/classifier.out_proj', '/classifier', '/qa_outputs'] },
  },
  constants: ['/lm_head.bias', '/lm_head.decoder.bias'],
  others: ['pooler.dense'],
};

/** @type {Family} */
const distilbert = {
  name: 'distilbert',
  types: ['distilbert'],
  prefixes: ['distilbert.', ''],
  options: (c, has) => {
    const masked = has('/vocab_transform.weight');
    const pooled = has('/pre_classifier.weight');
    return {
      layers: c.n_layers,
      dModel: c.dim,
      numHeads: c.n_heads,
      vocab: c.vocab_size,
      context: c.max_position_embeddings,
      mlp: c.hidden_dim,
      causal: false,
      normEps: 1e-12,
      normPlace: 'after',
      embedNorm: true,
      activation: activation('activation', c.activation ?? 'gelu'),
      bias: BERT_BIAS,
      ...(pooled && { pool: 'first', pooler: 'relu' }),
      ...(masked ? maskedHead(c) : classHead(c, has, pooled)),
    };
  },
  names: {
    'embedding.table': 'embeddings.word_embeddings.weight',
    'embedding.position': 'embeddings.position_embeddings.weight',
    'embedding.norm': 'embeddings.LayerNorm',
    ...under(
      {
        q: 'transformer.layer.L.attention.q_lin',
        k: 'transformer.layer.L.attention.k_lin',
        v: 'transformer.layer.L.attention.v_lin',
        o: 'transformer.layer.L.attention.out_lin',
      },
      'blocks.L.attention',
    ),
    'blocks.L.norm1': 'transformer.layer.L.sa_layer_norm',
    'blocks.L.up': 'transformer.layer.L.ffn.lin1',
    'blocks.L.down': 'transformer.layer.L.ffn.lin2',
    'blocks.L.norm2': 'transformer.layer.L.output_layer_norm',
    'head.dense': '/vocab_transform',
    'head.norm': '/vocab_layer_norm',
    pooler: '/pre_classifier',
    head: { from: '/vocab_projector', also: ['/classifier', '/qa_outputs'] },
  },
};

const [modernQ, modernK, modernV] = parts('layers.L.attn.Wqkv', 'rows');
/** @type {Family} */
const modernbert = {
  name: 'modernbert',
  types: ['modernbert'],
  prefixes: ['model.', ''],
  options: (c, has) => {
    const masked = has('/head.dense.weight') && !has('/classifier.weight');
    const head = masked ? maskedHead(c) : classHead(c, has, !isFor(c, 'QuestionAnswering'));
    only(c, 'classifier_pooling', 'cls', 'mean');
    const attention = c.attention_bias ?? false;
    const every = c.global_attn_every_n_layers ?? 3;
    const { full_attention: far, sliding_attention: near } = c.rope_parameters ?? {};
    for (const rope of [far, near]) only(rope ?? {}, 'rope_type', 'default');
    const theta = far?.rope_theta ?? c.global_rope_theta ?? 160000;
    return {
      layers: c.num_hidden_layers,
      dModel: c.hidden_size,
      numHeads: c.num_attention_heads,
      vocab: c.vocab_size,
      context: c.max_position_embeddings,
      mlp: c.intermediate_size,
      causal: false,
      normEps: c.norm_eps ?? 1e-5,
      firstNorm: false,
      embedNorm: true,
      positions: 'rotary',
      rotary: {
        theta,
        localTheta: near?.rope_theta ?? (c.local_rope_theta === null ? theta : c.local_rope_theta) ?? 10000,
      },
      window: windowsByLayer({ ...c, sliding_window: c.local_attention ?? 128 }, (i) => i % every !== 0),
      activation: activation('hidden_activation', c.hidden_activation ?? 'gelu'),
      gated: true,
      bias: {
        query: attention,
        key: attention,
        value: attention,
        out: attention,
        mlp: c.mlp_bias ?? false,
        norm: c.norm_bias ?? false,
        transform: c.classifier_bias ?? false,
        head: !masked || (c.decoder_bias ?? true),
      },
      ...head,
      ...(head.head === 'pooled' && { pool: c.classifier_pooling === 'mean' ? 'mean' : 'first' }),
      ...(head.head !== 'none' && {
        headTransform: 'norm',
        headActivation: activation('classifier_activation', c.classifier_activation ?? 'gelu'),
      }),
    };
  },
  names: {
    'embedding.table': 'embeddings.tok_embeddings.weight',
    'embedding.norm': 'embeddings.norm',
    'blocks.L.norm1': 'layers.L.attn_norm',
    ...under({ q: modernQ, k: modernK, v: modernV, o: 'layers.L.attn.Wo' }, 'blocks.L.attention'),
    'blocks.L.norm2': 'layers.L.mlp_norm',
    'blocks.L.gate': { from: 'layers.L.mlp.Wi', part: ['halves', 0] },
    'blocks.L.up': { from: 'layers.L.mlp.Wi', part: ['halves', 1] },
    'blocks.L.down': 'layers.L.mlp.Wo',
    norm: 'final_norm',
    'head.dense': '/head.dense',
    'head.norm': '/head.norm',
    head: { from: '/decoder', also: '/classifier' },
  },
};

/** @type {Family} */
const vit = {
  name: 'vit',
  types: ['vit', 'deit'],
  prefixes: ['vit.', 'deit.', ''],
  options: (c, has) => {
    const [height, width] = Array.isArray(c.image_size) ? c.image_size : [c.image_size, c.image_size];
    const size = c.patch_size;
    const classTokens = has('embeddings.distillation_token') ? 2 : 1;
    const taught = has('/distillation_classifier.weight');
    const classifier = taught || has('/classifier.weight');
    const pooled = !classifier && has('pooler.dense.weight');
    only(c, 'pooler_act', 'tanh');
    return {
      layers: c.num_hidden_layers,
      dModel: c.hidden_size,
      numHeads: c.num_attention_heads,
      context: Math.floor(height / size) * Math.floor(width / size) + classTokens,
      mlp: c.intermediate_size,
      causal: false,
      normEps: c.layer_norm_eps ?? 1e-12,
      input: 'patches',
      patch: { size, image: [height, width], channels: c.num_channels ?? 3, classTokens },
      activation: activation('hidden_act', c.hidden_act ?? 'gelu'),
      bias: { ...BERT_BIAS, query: c.qkv_bias ?? true, key: c.qkv_bias ?? true, value: c.qkv_bias ?? true },
      head: classifier ? 'pooled' : 'none',
      ...(classifier && { classes: classesOf(c), taught }),
      ...(pooled && { pool: 'first', pooler: 'tanh', poolDim: c.pooler_output_size ?? c.hidden_size }),
    };
  },
  names: {
    'embedding.patch': 'embeddings.patch_embeddings.projection',
    'embedding.class': { from: 'embeddings.cls_token', form: 'stacked', also: 'embeddings.distillation_token' },
    'embedding.position': 'embeddings.position_embeddings',
    'blocks.L.norm1': 'encoder.layer.L.layernorm_before',
    ...under(
      {
        q: 'encoder.layer.L.attention.attention.query',
        k: 'encoder.layer.L.attention.attention.key',
        v: 'encoder.layer.L.attention.attention.value',
        o: 'encoder.layer.L.attention.output.dense',
      },
      'blocks.L.attention',
    ),
    'blocks.L.norm2': 'encoder.layer.L.layernorm_after',
    'blocks.L.up': 'encoder.layer.L.intermediate.dense',
    'blocks.L.down': 'encoder.layer.L.output.dense',
    norm: 'layernorm',
    pooler: 'pooler.dense',
    head: { from: '/classifier', also: '/cls_classifier' },
    taught: '/distillation_classifier',
  },
  // The mask token is for training.
  others: ['pooler.dense', 'embeddings.mask_token'],
};

/** @type {Family} */
const clip = {
  name: 'clip_text',
  types: ['clip_text_model', 'clip'],
  prefixes: ['text_model.', ''],
  options: (given, has) => {
    // Where a file has both, the older field counts, with what it leaves out.
    const c = given.text_config_dict ?? given.text_config ?? given;
    const projected = has('/text_projection.weight');
    return {
      layers: c.num_hidden_layers ?? 12,
      dModel: c.hidden_size ?? 512,
      numHeads: c.num_attention_heads ?? 8,
      vocab: c.vocab_size ?? 49408,
      context: c.max_position_embeddings ?? 77,
      mlp: c.intermediate_size ?? 2048,
      normEps: c.layer_norm_eps ?? 1e-5,
      activation: activation('hidden_act', c.hidden_act ?? 'quick_gelu'),
      head: 'none',
      pool: 'end',
      // Configs that say 2 mean the label that is the largest.
      ...(c.eos_token_id !== 2 && { endToken: c.eos_token_id ?? 49407 }),
      ...(projected && { pooler: 'linear', poolDim: given.projection_dim ?? c.projection_dim ?? 512 }),
    };
  },
  names: {
    'embedding.table': 'embeddings.token_embedding.weight',
    'embedding.position': 'embeddings.position_embedding.weight',
    'blocks.L.norm1': 'encoder.layers.L.layer_norm1',
    ...under(
      {
        q: 'encoder.layers.L.self_attn.q_proj',
        k: 'encoder.layers.L.self_attn.k_proj',
        v: 'encoder.layers.L.self_attn.v_proj',
        o: 'encoder.layers.L.self_attn.out_proj',
      },
      'blocks.L.attention',
    ),
    'blocks.L.norm2': 'encoder.layers.L.layer_norm2',
    'blocks.L.up': 'encoder.layers.L.mlp.fc1',
    'blocks.L.down': 'encoder.layers.L.mlp.fc2',
    norm: 'final_layer_norm',
    pooler: '/text_projection',
  },
};

/** @param {string} stack @param {number} last number of the feed-forward in a block @returns {Names} */
const t5Stack = (stack, last) => ({
  'buckets.table': `${stack}.block.0.layer.0.SelfAttention.relative_attention_bias.weight`,
  'blocks.L.norm1': `${stack}.block.L.layer.0.layer_norm`,
  ...under(
    Object.fromEntries(['q', 'k', 'v', 'o'].map((p) => [p, `${stack}.block.L.layer.0.SelfAttention.${p}`])),
    'blocks.L.attention',
  ),
  'blocks.L.norm2': `${stack}.block.L.layer.${last}.layer_norm`,
  'blocks.L.gate': `${stack}.block.L.layer.${last}.DenseReluDense.wi_0`,
  'blocks.L.up': {
    from: `${stack}.block.L.layer.${last}.DenseReluDense.wi_1`,
    also: `${stack}.block.L.layer.${last}.DenseReluDense.wi`,
  },
  'blocks.L.down': `${stack}.block.L.layer.${last}.DenseReluDense.wo`,
  norm: `${stack}.final_layer_norm`,
});

/** @type {Family} */
const t5 = {
  name: 't5',
  types: ['t5', 'mt5'],
  prefixes: [''],
  options: (c, has) => {
    const feed = c.feed_forward_proj ?? (c.model_type === 'mt5' ? 'gated-gelu' : 'relu');
    const gated = c.is_gated_act ?? feed.startsWith('gated-');
    const usual = feed === 'gated-gelu' ? 'gelu_new' : feed.replace('gated-', '');
    // Later versions say that every head is tied, and beside that whether it is scaled, as those that are tied are.
    const tie = c.tie_word_embeddings ?? c.model_type !== 'mt5';
    const scaled = c.scale_decoder_outputs ?? tie;
    const own = has('/lm_head.weight');
    const tied = !own || (scaled && tie);
    /** @type {TransformerOptions} */
    const stack = {
      layers: c.num_layers,
      dModel: c.d_model,
      numHeads: c.num_heads,
      headDim: c.d_kv,
      vocab: c.vocab_size,
      context: ANY_LENGTH,
      mlp: c.d_ff,
      causal: false,
      norm: 'rms',
      normEps: c.layer_norm_epsilon ?? 1e-6,
      positions: 'buckets',
      buckets: { count: c.relative_attention_num_buckets ?? 32, distance: c.relative_attention_max_distance ?? 128 },
      activation: activation('feed_forward_proj', c.dense_act_fn ?? usual),
      gated,
      bias: false,
      scale: 1,
      head: 'none',
    };
    if (!has('decoder.final_layer_norm.weight')) return stack;
    return {
      ...stack,
      layers: c.num_decoder_layers ?? c.num_layers,
      causal: true,
      head: own || tie ? 'logits' : 'none',
      tied,
      ...(scaled && { logitScale: c.d_model ** -0.5 }),
      ...(has('/qa_outputs.weight') && {
        ...{ head: 'logits', tied: false, logitScale: 1 },
        classes: classesOf(c),
        bias: { head: true },
      }),
      encoder: { ...stack, sharedEmbedding: true },
    };
  },
  names: {
    'embedding.table': {
      from: 'shared.weight',
      also: ['encoder.embed_tokens.weight', 'decoder.embed_tokens.weight'],
    },
    ...t5Stack('decoder', 2),
    'blocks.L.cross.norm': 'decoder.block.L.layer.1.layer_norm',
    ...under(
      Object.fromEntries(['q', 'k', 'v', 'o'].map((p) => [p, `decoder.block.L.layer.1.EncDecAttention.${p}`])),
      'blocks.L.cross',
    ),
    head: { from: '/lm_head', also: '/qa_outputs' },
    ...under(t5Stack('encoder', 1), 'encoder'),
  },
  // The first files hold a bias that their model never adds.
  constants: ['decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight'],
};

/** @type {Family} */
const t5Encoder = {
  ...t5,
  names: { 'embedding.table': /** @type {Place} */ (t5.names['embedding.table']), ...t5Stack('encoder', 1) },
};

/** @param {string} stack @returns {Names} */
const whisperStack = (stack) => ({
  'embedding.position': `${stack}.embed_positions.weight`,
  'blocks.L.norm1': `${stack}.layers.L.self_attn_layer_norm`,
  ...under(
    {
      q: `${stack}.layers.L.self_attn.q_proj`,
      k: `${stack}.layers.L.self_attn.k_proj`,
      v: `${stack}.layers.L.self_attn.v_proj`,
      o: `${stack}.layers.L.self_attn.out_proj`,
    },
    'blocks.L.attention',
  ),
  'blocks.L.norm2': `${stack}.layers.L.final_layer_norm`,
  'blocks.L.up': `${stack}.layers.L.fc1`,
  'blocks.L.down': `${stack}.layers.L.fc2`,
  norm: `${stack}.layer_norm`,
});

/** @type {Family} */
const whisper = {
  name: 'whisper',
  types: ['whisper'],
  prefixes: ['model.', ''],
  options: (c) => {
    const shared = {
      dModel: c.d_model,
      normEps: 1e-5,
      activation: activation('activation_function', c.activation_function ?? 'gelu'),
      bias: { query: true, key: false, value: true, out: true, mlp: true, norm: true },
    };
    return {
      ...shared,
      layers: c.decoder_layers,
      numHeads: c.decoder_attention_heads,
      vocab: c.vocab_size,
      context: c.max_target_positions,
      mlp: c.decoder_ffn_dim,
      tied: c.tie_word_embeddings ?? true,
      encoder: {
        ...shared,
        layers: c.encoder_layers,
        numHeads: c.encoder_attention_heads,
        context: c.max_source_positions,
        mlp: c.encoder_ffn_dim,
        causal: false,
        input: 'audio',
        channels: c.num_mel_bins,
        head: 'none',
      },
    };
  },
  names: {
    'embedding.table': 'decoder.embed_tokens.weight',
    ...whisperStack('decoder'),
    'blocks.L.cross.norm': 'decoder.layers.L.encoder_attn_layer_norm',
    ...under(
      {
        q: 'decoder.layers.L.encoder_attn.q_proj',
        k: 'decoder.layers.L.encoder_attn.k_proj',
        v: 'decoder.layers.L.encoder_attn.v_proj',
        o: 'decoder.layers.L.encoder_attn.out_proj',
      },
      'blocks.L.cross',
    ),
    head: '/proj_out',
    ...under(whisperStack('encoder'), 'encoder'),
    'encoder.embedding.conv1': { from: 'encoder.conv1', form: 'convolution' },
    'encoder.embedding.conv2': { from: 'encoder.conv2', form: 'convolution' },
  },
};

/** @type {readonly Family[]} */
export const FAMILIES = [
  bert,
  roberta,
  distilbert,
  modernbert,
  gpt2,
  opt,
  bloom,
  neox,
  llama,
  qwen2,
  qwen3,
  gemma1,
  { ...gemma, name: 'gemma2', types: ['gemma2'] },
  phi,
  phi3,
  vit,
  clip,
  { ...t5, alone: { without: 'decoder.final_layer_norm.weight', family: t5Encoder } },
  whisper,
];

/** @param {unknown} type as config.json names it */
export const familyOf = (type) => FAMILIES.find(({ types }) => types.includes(/** @type {string} */ (type)));
