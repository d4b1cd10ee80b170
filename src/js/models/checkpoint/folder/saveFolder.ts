// Writes a model as files in the layout of Hugging Face: config.json, model.safetensors, tokenizer.json and the chat
// template, by the families that openModel uses: one is suitable if it reads the same options from the new config.json.
// Adds train.py, which continues the training in PyTorch, and the optimizer's state.

import { readOptions } from '../../../check/arguments.ts';
import { argumentError, HeadlightError } from '../../../check/errors.ts';
import { quote } from '../../../check/quote.ts';
import { elementCount, sameShape } from '../../../check/shape.ts';
import { writeSafetensors } from '../../../io/safetensors.ts';
import { Adam, Sgd } from '../../../ops/optimizer.ts';
import type { StateEntry } from '../../../ops/state.ts';
import type { ChatSource } from '../../../text/chat/chatTemplate.ts';
import { openTokenizer } from '../../../text/tokenizer.ts';
import type { Config, Family, TensorSource } from '../../families/common.ts';
import { FAMILIES } from '../../families/index.ts';
import { type Resolved, resolveOptions } from '../../options.ts';
import { parameterShapes } from '../../parameters.ts';
import type { Transformer } from '../../transformer.ts';
import { sourceOf, splitOf } from '../naming.ts';
import { layoutOf, type Split, storedShape } from '../tensorLayout.ts';
import trainProgram from './train.py' with { type: 'text' };

export type SaveFolderOptions = {
  /** tokenizer.json; default: the one that the model was opened with */
  tokenizer?: string | Uint8Array | undefined;
  /** optimizer of this model, whose state is written too, so that openModel and train.py continue with it */
  optimizer?: Adam | Sgd | undefined;
};

const CALLER = 'saveFolder';
/** Options that do not change the results of inference, so that a config.json need not contain them. */
const TRAINING_ONLY = new Set(['std', 'seed', 'dropout']);
const ACTIVATIONS: Record<string, string> = {
  gelu: 'gelu',
  'gelu-tanh': 'gelu_new',
  'quick-gelu': 'quick_gelu',
  relu: 'relu',
  silu: 'silu',
};

const gpt2 = (o: Resolved): Config => ({
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

function ropeScaling(scaling: NonNullable<Resolved['rotary']>['scaling']): Config | null {
  if (!scaling) return null;
  const given = scaling as Config;
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

const rmsDecoder = (o: Resolved): Config => ({
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

/** Returns the window of the first layer. If layers have different windows, the family is not suitable. */
const windowOf = ({ window }: Resolved) => window?.[0] ?? null;

/** Functions that make the config.json of a model that was created by Headlight, by model_type. */
const CONFIGS: Record<string, (o: Resolved) => Config> = {
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

const windowOfQwen = ({ window }: Resolved) => ({
  use_sliding_window: window !== null,
  sliding_window: window?.find((width) => width !== null) ?? null,
  ...(window && { layer_types: window.map((width) => (width === null ? 'full_attention' : 'sliding_attention')) }),
});

const shared = ({ vocab, tied }: Resolved) => ({
  vocab_size: vocab,
  tie_word_embeddings: tied,
  bos_token_id: null,
  eos_token_id: null,
  torch_dtype: 'float32',
});

/** A config.json, and the name of each parameter's tensor. */
export type Form = { config: Config; names: Map<string, string> };

function formOf(config: Config, options: Resolved): Form {
  const { family, prefix } = familyIn(config);
  const parameters = [...parameterShapes(options)].map(([name]) => name);
  return { config, names: new Map(parameters.map((name) => [name, sourceOf(family, prefix, name).names[0]])) };
}

function familyIn({ model_type: type }: Config) {
  const family = FAMILIES.get(type) as Family;
  return { family, prefix: family.prefixes[0] };
}

/** Returns the names of the options whose values, when read from config.json, differ from those of the model. */
function differences({ config, names }: Form, options: Resolved): string[] {
  const { family } = familyIn(config);
  const written = new Set(names.values());
  const has = (name: string) =>
    name.startsWith('/') ? written.has(name.slice(1)) : family.prefixes.some((prefix) => written.has(prefix + name));
  let described: Resolved;
  try {
    described = resolveOptions(family.options(config, has), CALLER);
  } catch (error) {
    return [(error as any).field ?? (error as any).parameter ?? 'options'];
  }
  return Object.keys(options).filter((name) => {
    const [a, b] = [described, options].map((all) => JSON.stringify((all as any)[name]));
    return !TRAINING_ONLY.has(name) && a !== b;
  });
}

/** Returns the form from which openModel reads the same options. */
function chooseForm({ config: opened, storedNames: names, options }: Transformer): Form {
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
  const values = wrong.map((name) => `${name} ${quote((options as any)[name])}`).join(', ');
  const families = Object.keys(CONFIGS);
  const reason = `none of ${families.join(', ')} fits this model: ${form.config.model_type} has no ${values}`;
  throw refused(wrong[0], (options as any)[wrong[0]], reason, families);
}

const refused = (parameter: string, got: unknown, reason: string, expected?: string[]) =>
  new HeadlightError('ARGUMENT', `${CALLER}: ${reason}; save() can write every model`, { parameter, got, expected });

/** Into the tensor of this shape that stores it, which may store other parameters too. */
function writeParameter(
  target: Float32Array,
  source: TensorSource,
  stored: readonly number[],
  { data, shape }: StateEntry,
  split: Split,
) {
  const { offset = 0 } = source;
  const { width, from, to, contiguous, write } = layoutOf({ ...source, offset: 0 }, stored, shape, split);
  if (contiguous && offset === 0) return target.set(data as Float32Array, from * width);
  // The layout is applied to indices, so that indices[i] becomes the index in the tensor of data[i].
  const indices = new Float64Array(data.length);
  const rows = Float64Array.from({ length: (to - from) * width }, (_, i) => from * width + i);
  write(indices as any, rows as any, from, to);
  indices.forEach((at, i) => void (target[at] = Number(data[i]) - offset));
}

/** The shape in the file if the model was opened: it may have more axes of length 1. */
function shapeIn({ storedShapes }: Transformer, name: string, shape: number[]) {
  const opened = storedShapes?.get(name) ?? shape;
  const [a, b] = [opened, shape].map((axes) => axes.filter((n) => n !== 1));
  return sameShape(a, b) ? [...opened] : shape;
}

/** Splits a parameter that is stored in a tensor for each head. names: possible names; width: of a head. */
function tensorsOfHeads(names: string[], data: StateEntry['data'], width: number) {
  const weights = names.filter((name) => name.endsWith('.weight'));
  const part = (head: number) => Float32Array.from(data).subarray(head * width, (head + 1) * width);
  return Object.fromEntries(
    Array.from({ length: data.length / width }, (_, head) => [weights[head], { data: part(head), shape: [width] }]),
  );
}

/** Tensors by name. asStored: subtracts the offset of a source, which the state of an optimizer does not have. */
function tensorsOf(
  model: Transformer,
  { config, names }: Form,
  dataOf: (parameter: string) => StateEntry['data'],
  asStored = false,
) {
  const { family, prefix } = familyIn(config);
  const tensors: Record<string, { data: Float32Array; shape: number[] }> = {};
  for (const [parameter, shape] of parameterShapes(model.options)) {
    const { source = { from: '' }, names: partNames } = sourceOf(family, prefix, parameter);
    if (source.form === 'stacked') {
      Object.assign(tensors, tensorsOfHeads(partNames, dataOf(parameter), model.options.headDim));
      continue;
    }
    const split = splitOf(model.options, parameter);
    const stored = storedShape(source, shape, split);
    const name = names.get(parameter) as string;
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

/** Under the names of the tensors. The metadata has the optimizer's options. */
function stateFile(model: Transformer, form: Form, optimizer: Adam | Sgd) {
  const known = optimizer.known(CALLER);
  const all = [...model.weights].map(([name, { tensor }]) => {
    const state = tensor && known.get(tensor);
    if (!state) throw argumentError(CALLER, 'optimizer', name, 'an optimizer of this model');
    return [name, state] as const;
  });
  const states = new Map(all);
  const [[first, { steps, parts }]] = all;
  const other = all.find(([, state]) => state.steps !== steps);
  if (other) {
    const got = `${steps} of ${first}, ${other[1].steps} of ${other[0]}`;
    throw argumentError(CALLER, 'optimizer', got, 'the same number of steps for every parameter');
  }
  const tensors = parts.flatMap(([part], i) => {
    const stored = tensorsOf(model, form, (name) => (states.get(name) as any).parts[i][1]);
    return Object.entries(stored).map(([name, tensor]) => [`${name}.${part}`, tensor]);
  });
  const { name, lr, options } = optimizer;
  const { dropout, seed } = model.options;
  const headlight = JSON.stringify({ optimizer: name, lr, ...options, dropout, steps, seed, learned: model.learned });
  return writeSafetensors(Object.fromEntries(tensors), { headlight });
}

/**
 * Writes chat templates, and the special tokens that they read. One template has a file of its own, several are a list.
 */
function chatFiles(
  chat: ChatSource | undefined,
  json: (value: object) => Uint8Array<ArrayBuffer>,
): Record<string, Uint8Array<ArrayBuffer>> {
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

function checkTokenizer(file: Uint8Array) {
  try {
    openTokenizer(file);
  } catch (error) {
    if (!(error instanceof HeadlightError)) throw error;
    const details = { parameter: 'tokenizer', got: file, cause: error };
    throw new HeadlightError('FORMAT', `${CALLER}: the tokenizer could not be opened again: ${error.message}`, details);
  }
}

export function saveFolder(
  model: Transformer,
  options: SaveFolderOptions = {},
): Record<string, Uint8Array<ArrayBuffer>> {
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
  const json = (value: object) => utf8.encode(`${JSON.stringify(value, null, 2)}\n`);
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
