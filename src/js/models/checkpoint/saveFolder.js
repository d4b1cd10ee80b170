// Writes a model as the files of a checkpoint in the layout of Hugging Face: config.json, model.safetensors,
// tokenizer.json and the chat template, by the same tables of families that openModel uses. A family is suitable if it
// reads the same options from the new config.json. train.py, which continues the training in PyTorch, and the state of
// the optimizer are written to the same folder.

import { readOptions } from '../../check/arguments.js';
import { argumentError, HeadlightError } from '../../check/errors.js';
import { quote } from '../../check/quote.js';
import { elementCount, sameShape } from '../../check/shape.js';
import { writeSafetensors } from '../../io/safetensors.js';
import { Adam, Sgd } from '../../ops/optimizer.js';
import { openTokenizer } from '../../text/tokenizer.js';
import { FAMILIES } from '../families/index.js';
import { resolveOptions } from '../options.js';
import { parameterShapes } from '../parameters.js';
import { sourceOf, splitOf } from './naming.js';
import { layoutOf, storedShape } from './tensorLayout.js';
import trainProgram from './train.py' with { type: 'text' };

/** @import { StateEntry } from '../../ops/state.js' */
/** @import { ChatSource } from '../../text/chat/chatTemplate.js' */
/** @import { Config, Family, TensorSource } from '../families/common.js' */
/** @import { Resolved } from '../options.js' */
/** @import { Split } from './tensorLayout.js' */
/** @import { Transformer } from '../transformer.js' */

/**
 * @typedef {object} SaveFolderOptions
 * @property {string | Uint8Array} [tokenizer] tokenizer.json; default: the one that the model was opened with
 * @property {Adam | Sgd} [optimizer] optimizer of this model, whose state is written too, so that openModel and
 *   train.py continue with it
 */

const CALLER = 'saveFolder';
/** Options that do not change the results of inference, so that a config.json need not contain them. */
const TRAINING_ONLY = new Set(['std', 'seed', 'dropout']);
/** @type {Record<string, string>} */
const ACTIVATIONS = {
  gelu: 'gelu',
  'gelu-tanh': 'gelu_new',
  'quick-gelu': 'quick_gelu',
  relu: 'relu',
  silu: 'silu',
};

/** @param {Resolved} o @returns {Config} */
const gpt2 = (o) => ({
  architectures: ['GPT2LMHeadModel'],
  n_layer: o.layers,
  n_embd: o.dModel,
  n_head: o.numHeads,
  n_positions: o.context,
  n_inner: o.mlp,
  layer_norm_epsilon: o.normEps,
  activation_function: ACTIVATIONS[o.activation],
  scale_attn_weights: o.scale !== 1,
  scale_attn_by_inverse_layer_idx: typeof o.scale !== 'number',
  attn_pdrop: o.dropout,
  embd_pdrop: 0,
  resid_pdrop: 0,
});

/** @param {NonNullable<Resolved['rotary']>['scaling']} scaling @returns {Config | null} */
function ropeScaling(scaling) {
  if (!scaling) return null;
  const given = /** @type {Config} */ (scaling);
  return {
    rope_type: given.type,
    factor: given.factor,
    original_max_position_embeddings: given.originalContext,
    low_freq_factor: given.lowFreqFactor,
    high_freq_factor: given.highFreqFactor,
    beta_fast: given.betaFast,
    beta_slow: given.betaSlow,
    attention_factor: given.attentionFactor,
    truncate: given.truncate,
  };
}

/** @param {Resolved} o @returns {Config} */
const rmsDecoder = (o) => ({
  num_hidden_layers: o.layers,
  hidden_size: o.dModel,
  num_attention_heads: o.numHeads,
  num_key_value_heads: o.kvHeads,
  head_dim: o.headDim,
  max_position_embeddings: o.context,
  intermediate_size: o.mlp,
  rms_norm_eps: o.normEps,
  rope_theta: o.rotary?.theta,
  rope_scaling: ropeScaling(o.rotary?.scaling),
  hidden_act: ACTIVATIONS[o.activation],
  attention_dropout: o.dropout,
});

/**
 * Returns the window of the first layer. If layers have different windows, the family is not suitable.
 * @param {Resolved} o
 */
const windowOf = ({ window }) => window?.[0] ?? null;

/**
 * Functions that make the config.json of a model that was created by Headlight, by model_type.
 * @type {Record<string, (o: Resolved) => Config>}
 */
const CONFIGS = {
  gpt2,
  llama: (o) => ({
    architectures: ['LlamaForCausalLM'],
    ...rmsDecoder(o),
    attention_bias: o.bias.query,
    mlp_bias: o.bias.mlp,
  }),
  mistral: (o) => ({ architectures: ['MistralForCausalLM'], ...rmsDecoder(o), sliding_window: windowOf(o) }),
  qwen2: (o) => ({ architectures: ['Qwen2ForCausalLM'], ...rmsDecoder(o), ...windowOfQwen(o) }),
  qwen3: (o) => ({
    architectures: ['Qwen3ForCausalLM'],
    ...rmsDecoder(o),
    attention_bias: o.bias.query,
    ...windowOfQwen(o),
  }),
};

/** @param {Resolved} o */
const windowOfQwen = ({ window }) => ({
  use_sliding_window: window !== null,
  sliding_window: window?.find((width) => width !== null) ?? null,
  ...(window && { layer_types: window.map((width) => (width === null ? 'full_attention' : 'sliding_attention')) }),
});

/** Returns the fields that every family has. @param {Resolved} o */
const shared = ({ vocab, tied }) => ({
  vocab_size: vocab,
  tie_word_embeddings: tied,
  bos_token_id: null,
  eos_token_id: null,
  torch_dtype: 'float32',
});

/**
 * A config.json, and the name of each parameter's tensor.
 * @typedef {{ config: Config, names: Map<string, string> }} Form
 */

/** @param {Config} config @param {Resolved} options @returns {Form} */
function formOf(config, options) {
  const { family, prefix } = familyIn(config);
  const parameters = [...parameterShapes(options)].map(([name]) => name);
  return { config, names: new Map(parameters.map((name) => [name, sourceOf(family, prefix, name).names[0]])) };
}

/** @param {Config} config */
function familyIn({ model_type: type }) {
  const family = /** @type {Family} */ (FAMILIES.get(type));
  return { family, prefix: family.prefixes[0] };
}

/**
 * Returns the names of the options whose values, when read from config.json, differ from those of the model.
 * @param {Form} form
 * @param {Resolved} options
 * @returns {string[]}
 */
function differences({ config, names }, options) {
  const { family } = familyIn(config);
  const written = new Set(names.values());
  const has = (/** @type {string} */ name) =>
    name.startsWith('/') ? written.has(name.slice(1)) : family.prefixes.some((prefix) => written.has(prefix + name));
  /** @type {Resolved} */
  let described;
  try {
    described = resolveOptions(family.options(config, has), CALLER);
  } catch (error) {
    return [/** @type {any} */ (error).field ?? /** @type {any} */ (error).parameter ?? 'options'];
  }
  return Object.keys(options).filter((name) => {
    const [a, b] = [described, options].map((all) => JSON.stringify(/** @type {any} */ (all)[name]));
    return !TRAINING_ONLY.has(name) && a !== b;
  });
}

/** Returns the form from which openModel reads the same options. @param {Transformer} model @returns {Form} */
function chooseForm({ config: opened, storedNames: names, options }) {
  if (options.input !== 'tokens') throw refused('input', options.input, 'only models that read tokens are written');
  if (opened && names) {
    // The opened file may have had a separate head although its config.json says that the head is tied.
    for (const config of [opened, { ...opened, tie_word_embeddings: options.tied }]) {
      const form = { config: { ...config, torch_dtype: 'float32' }, names };
      if (differences(form, options).length === 0) return form;
    }
  }
  if (options.encoder) {
    const reason = 'a model with an encoder can be written only if it was opened whole from a config.json';
    throw refused('encoder', options.encoder, reason);
  }
  const candidates = Object.entries(CONFIGS).map(([type, of]) => {
    const form = formOf({ model_type: type, ...of(options), ...shared(options) }, options);
    return { form, wrong: differences(form, options) };
  });
  const { form, wrong } = candidates.reduce((a, b) => (b.wrong.length < a.wrong.length ? b : a));
  if (wrong.length === 0) return form;
  const values = wrong.map((name) => `${name} ${quote(/** @type {any} */ (options)[name])}`).join(', ');
  const families = Object.keys(CONFIGS);
  const reason = `none of ${families.join(', ')} fits this model: ${form.config.model_type} has no ${values}`;
  throw refused(wrong[0], /** @type {any} */ (options)[wrong[0]], reason, families);
}

/** @param {string} parameter @param {unknown} got @param {string} reason @param {string[]} [expected] */
const refused = (parameter, got, reason, expected) =>
  new HeadlightError('ARGUMENT', `${CALLER}: ${reason}; save() can write every model`, { parameter, got, expected });

/**
 * Writes a parameter into the tensor that stores it, which may store other parameters as well.
 * @param {Float32Array} target
 * @param {TensorSource} source
 * @param {readonly number[]} stored shape of the tensor
 * @param {StateEntry} parameter
 * @param {Split} split
 */
function writeParameter(target, source, stored, { data, shape }, split) {
  const { offset = 0 } = source;
  const { width, from, to, contiguous, write } = layoutOf({ ...source, offset: 0 }, stored, shape, split);
  if (contiguous && offset === 0) return target.set(/** @type {Float32Array} */ (data), from * width);
  // The layout is applied to an array of indices, so that indices[i] becomes the index in the tensor of data[i].
  const indices = new Float64Array(data.length);
  const rows = Float64Array.from({ length: (to - from) * width }, (_, i) => from * width + i);
  write(/** @type {any} */ (indices), /** @type {any} */ (rows), from, to);
  indices.forEach((at, i) => void (target[at] = Number(data[i]) - offset));
}

/**
 * Returns the shape of a tensor. In a model that was opened, it is the shape in the file, which may have other axes of
 * length 1.
 * @param {Transformer} model
 * @param {string} name
 * @param {number[]} shape
 */
function shapeIn({ storedShapes }, name, shape) {
  const opened = storedShapes?.get(name) ?? shape;
  const [a, b] = [opened, shape].map((axes) => axes.filter((n) => n !== 1));
  return sameShape(a, b) ? [...opened] : shape;
}

/**
 * Returns the tensors of a parameter that is stored in a tensor for each head.
 * @param {string[]} names under which the tensors may be stored
 * @param {StateEntry['data']} data
 * @param {number} width of a head
 */
function tensorsOfHeads(names, data, width) {
  const weights = names.filter((name) => name.endsWith('.weight'));
  const part = (/** @type {number} */ head) => Float32Array.from(data).subarray(head * width, (head + 1) * width);
  return Object.fromEntries(
    Array.from({ length: data.length / width }, (_, head) => [weights[head], { data: part(head), shape: [width] }]),
  );
}

/**
 * Returns the tensors that store the parameters, or the optimizer's state of the parameters, by name.
 * @param {Transformer} model
 * @param {Form} form
 * @param {(parameter: string) => StateEntry['data']} dataOf
 * @param {boolean} [asStored] true: subtracts the offset of a source; false: does not, for the state of an optimizer
 */
function tensorsOf(model, { config, names }, dataOf, asStored = false) {
  const { family, prefix } = familyIn(config);
  /** @type {Record<string, { data: Float32Array, shape: number[] }>} */
  const tensors = {};
  for (const [parameter, shape] of parameterShapes(model.options)) {
    const { source = { from: '' }, names: partNames } = sourceOf(family, prefix, parameter);
    if (source.form === 'stacked') {
      Object.assign(tensors, tensorsOfHeads(partNames, dataOf(parameter), model.options.headDim));
      continue;
    }
    const split = splitOf(model.options, parameter);
    const stored = storedShape(source, shape, split);
    const name = /** @type {string} */ (names.get(parameter));
    tensors[name] ??= { data: new Float32Array(elementCount(stored)), shape: shapeIn(model, name, stored) };
    writeParameter(
      tensors[name].data,
      asStored ? source : { ...source, offset: 0 },
      stored,
      { data: dataOf(parameter), shape },
      split,
    );
  }
  return tensors;
}

/**
 * Returns a file with the state of an optimizer, under the names of the tensors. Its metadata contains the options of
 * the optimizer.
 * @param {Transformer} model
 * @param {Form} form
 * @param {Adam | Sgd} optimizer
 */
function stateFile(model, form, optimizer) {
  const known = optimizer.known(CALLER);
  const all = [...model.weights].map(([name, { tensor }]) => {
    const state = tensor && known.get(tensor);
    if (!state) throw argumentError(CALLER, 'optimizer', name, 'an optimizer of this model');
    return /** @type {const} */ ([name, state]);
  });
  const states = new Map(all);
  const [[first, { steps, parts }]] = all;
  const other = all.find(([, state]) => state.steps !== steps);
  if (other) {
    const got = `${steps} of ${first}, ${other[1].steps} of ${other[0]}`;
    throw argumentError(CALLER, 'optimizer', got, 'the same number of steps for every parameter');
  }
  const tensors = parts.flatMap(([part], i) => {
    const stored = tensorsOf(model, form, (name) => /** @type {any} */ (states.get(name)).parts[i][1]);
    return Object.entries(stored).map(([name, tensor]) => [`${name}.${part}`, tensor]);
  });
  const { name, lr, options } = optimizer;
  const { dropout, seed } = model.options;
  const headlight = JSON.stringify({ optimizer: name, lr, ...options, dropout, steps, seed, learned: model.learned });
  return writeSafetensors(Object.fromEntries(tensors), { headlight });
}

/**
 * Returns the files with the chat templates, and with the special tokens that they read. One template has a file of its
 * own; several are a list, because the file can hold only one.
 * @param {ChatSource | undefined} chat
 * @param {(value: object) => Uint8Array<ArrayBuffer>} json
 * @returns {Record<string, Uint8Array<ArrayBuffer>>}
 */
function chatFiles(chat, json) {
  if (!chat) return {};
  const { templates, specials } = chat;
  const list = Object.entries(templates).map(([name, template]) => ({ name, template }));
  const alone = list.length === 1 && templates.default !== undefined;
  const config = { ...specials, ...(!alone && { chat_template: list }) };
  return {
    ...(Object.keys(config).length > 0 && { 'tokenizer_config.json': json(config) }),
    ...(alone && { 'chat_template.jinja': new TextEncoder().encode(templates.default) }),
  };
}

/** @param {Uint8Array} file tokenizer.json */
function checkTokenizer(file) {
  try {
    openTokenizer(file);
  } catch (error) {
    if (!(error instanceof HeadlightError)) throw error;
    const details = { parameter: 'tokenizer', got: file, cause: error };
    throw new HeadlightError('FORMAT', `${CALLER}: the tokenizer could not be opened again: ${error.message}`, details);
  }
}

/**
 * @param {Transformer} model
 * @param {SaveFolderOptions} [options]
 * @returns {Record<string, Uint8Array<ArrayBuffer>>} the files by name
 */
export function saveFolder(model, options = {}) {
  const given = readOptions(CALLER, options, ['tokenizer', 'optimizer']);
  const { tokenizer = model.tokenizerFile, optimizer } = given;
  const utf8 = new TextEncoder();
  const text = typeof tokenizer === 'string' ? utf8.encode(tokenizer) : tokenizer;
  if (text !== undefined && !(text instanceof Uint8Array))
    throw argumentError(CALLER, 'tokenizer', text, 'the text of a tokenizer.json, or its bytes');
  if (text && text !== model.tokenizerFile) checkTokenizer(text);
  if (optimizer !== undefined && !(optimizer instanceof Adam || optimizer instanceof Sgd))
    throw argumentError(CALLER, 'optimizer', optimizer, 'a result of hl.adamW, hl.adam or hl.sgd');
  const form = chooseForm(model);
  const { head, classes } = model.options;
  const trainable = form.config.model_type in CONFIGS && head === 'logits' && classes === 0;
  if (optimizer && !trainable) {
    const types = Object.keys(CONFIGS).join(', ');
    throw argumentError(
      CALLER,
      'optimizer',
      form.config.model_type,
      `none, because train.py supports only ${types}, with logits of tokens`,
    );
  }
  const state = model.stateDict();
  const json = (/** @type {object} */ value) => utf8.encode(`${JSON.stringify(value, null, 2)}\n`);
  return {
    'config.json': json(form.config),
    ...(model.generationConfig && { 'generation_config.json': json(model.generationConfig) }),
    // Libraries of Hugging Face require the metadata `format`.
    'model.safetensors': writeSafetensors(
      tensorsOf(model, form, (name) => state[name].data, true),
      { format: 'pt' },
    ),
    ...(text && { 'tokenizer.json': text.slice() }),
    ...chatFiles(model.chatTemplates, json),
    ...(trainable && { 'train.py': utf8.encode(trainProgram) }),
    ...(optimizer && { 'optimizer.safetensors': stateFile(model, form, optimizer) }),
  };
}
