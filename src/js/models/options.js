// Reads the options of a transformer: checks them and fills in the defaults.

import { readBoolean, readNumber, readOptions, readWord } from '../check/arguments.js';
import { argumentError, HeadlightError } from '../check/errors.js';
import { readBuckets, readPatch, readTokenDropout, SIZE } from './partOptions.js';
import { rarePart } from './rareParts.js';
import { readRotary } from './rotaryOptions.js';

/** @import { Disentangled, DisentangledOptions } from './disentangledOptions.js' */
/** @import { ResolvedRotary, RotaryOptions } from './rotaryOptions.js' */
/** @import { Sound, SoundOptions } from './sound/options.js' */

/**
 * @typedef {object} BiasOptions which linear layers have a bias
 * @property {boolean} [query]
 * @property {boolean} [key]
 * @property {boolean} [value]
 * @property {boolean} [out] output projection of attention
 * @property {boolean} [mlp]
 * @property {boolean} [norm]
 * @property {boolean} [transform] the layer of headTransform; default true
 * @property {boolean} [pooler] the pooler, if it is 'linear'; default false. Other poolers always have a bias
 * @property {boolean} [head]
 */
/**
 * @typedef {object} TransformerOptions
 * @property {number} layers number of blocks; with 0 only embedding and head remain
 * @property {number} dModel width of the model, C
 * @property {number} numHeads heads of each block's attention, H
 * @property {number} [vocab] number of ids: 0 to vocab − 1
 * @property {number} context length of the longest sequence
 * @property {number} [kvHeads] heads of keys and values, G; default numHeads
 * @property {number} [headDim] width of a head, D; default dModel / numHeads
 * @property {number} [mlp] width of the hidden layer of the feed-forward, 0 for none; default 4 · dModel
 * @property {boolean} [causal] true: a token attends only to itself and the tokens before it; default true
 * @property {'layer' | 'rms' | 'none'} [norm] default 'layer'
 * @property {number} [normEps] default 1e-5. With 0 the norm of a row of zeros, or for 'layer' of equal numbers, is
 *   NaN, as in PyTorch
 * @property {boolean} [normScale] true: norms multiply by a weight; default true
 * @property {'before' | 'after' | 'both' | 'parallel' | 'stream' | 'outputs'} [normPlace] where the norms of attention
 *   and feed-forward are. 'before': before each of them; 'after': after each sum; 'both': before and after each of
 *   them; 'parallel': before both, which are computed in parallel; 'stream': before each of them, and the output of the
 *   norm replaces the residual stream; 'outputs': after each of them, before the sum. Default 'before'
 * @property {boolean} [sharedBlocks] all blocks have the parameters of the first one; default false
 * @property {boolean} [firstNorm] true: the first block begins with a norm; default true
 * @property {boolean} [sharedNorm] with 'parallel': attention and feed-forward have the same norm
 * @property {boolean} [finalNorm] a norm after the last block; default true, with normPlace 'after' false
 * @property {boolean} [embedNorm] a norm after the embedding; default false
 * @property {'learned' | 'sinusoidal' | 'rotary' | 'alibi' | 'buckets' | 'none'} [positions] default 'learned'
 * @property {'pairs' | 'halves' | 'inclusive'} [sinusoids] with positions 'sinusoidal'. 'pairs': each sine is followed
 *   by its cosine; 'halves': all sines before all cosines; 'inclusive': as 'halves', and the longest wave is exactly
 *   10000 times the shortest. Default 'pairs'
 * @property {number} [positionOffset] number of rows before position 0 in the table of positions; default 0
 * @property {boolean} [countPadding] true: the position of a token is its index, also after padding. false: it is the
 *   number of tokens before it that `keep` keeps. Default: false for causal models without an encoder, otherwise true
 * @property {number} [padToken] id of the padding token. Learned or sinusoidal positions do not count it. It gets the
 *   row before position 0, or zeros in place of sinusoids. positionOffset must be at least 1
 * @property {RotaryOptions} [rotary]
 * @property {{ count?: number, distance?: number }} [buckets] buckets of relative positions, each with a learned bias.
 *   They are used with positions 'buckets', or in addition to other positions; default: 32 buckets for distances up to
 *   128
 * @property {DisentangledOptions} [disentangled] attention to relative positions, as in DeBERTa; default: none. In
 *   a web page, hl.openModel must have opened a model with this option before
 * @property {'gelu' | 'gelu-tanh' | 'quick-gelu' | 'relu' | 'silu'} [activation] default 'gelu-tanh'
 * @property {boolean} [gated] true: the hidden layer of the feed-forward is activation(gate) · up; default false
 * @property {boolean | BiasOptions} [bias] true: all layers except the head have a bias; false: only norms. Default
 *   true
 * @property {boolean} [tied] true: the head uses the embedding table; default false
 * @property {number | null | readonly (number | null)[]} [window] number of keys that a token attends to, for all
 *   layers or by layer. With `causal` the token's own key is included; otherwise ⌊window/2⌋ keys on each side
 * @property {number | readonly number[]} [scale] factor of scores, for all layers or by layer; default 1/√headDim
 * @property {number} [embedScale] factor of embeddings; default 1
 * @property {{ token: number, share: number }} [tokenDropout] the embeddings of this token are 0, and all other
 *   embeddings are multiplied by (1 − share) / (1 − the share of this token in the sequence); default: none
 * @property {number} [residualScale] factor of the outputs of attention and feed-forward, before they are added to the
 *   residual stream; default 1
 * @property {number} [logitScale] factor of the head's input; default 1
 * @property {number} [softcap] limits scores to softcap · tanh(score / softcap); default 0, none
 * @property {number} [logitSoftcap] softcap of logits; default 0, none
 * @property {boolean} [layerScale] attention and feed-forward end with a learned factor for each channel; default false
 * @property {boolean | 'all' | 'layer' | 'each'} [queryKeyNorm] norm of queries and keys before rotation. true: an
 *   RMS norm of each head, with the same weights for all heads; 'all': one RMS norm of all heads together, before they
 *   are split, so that the query of a head depends on the other heads; 'layer': a layer norm of each head, with the
 *   same weights and biases for all heads; 'each': a layer norm of each head, with its own weights and no bias. Default
 *   false
 * @property {boolean} [sinks] each head has a learned score that takes part in its softmax; default false
 * @property {'tokens' | 'patches' | 'audio' | 'sound'} [input] 'audio' is a spectrogram, 'sound' are samples; default
 *   'tokens'
 * @property {number} [embedDim] width of the embedding table, projected to dModel if different; default dModel
 * @property {'tokens' | 'sum'} [embedProject] what is projected from embedDim to dModel. 'tokens': the embeddings of
 *   tokens, without a bias; 'sum': the sum of the embeddings of tokens, positions and types, after its norm, with a
 *   bias. Default 'tokens'
 * @property {{ size: number, image: number | readonly [number, number], channels?: number, classTokens?: number,
 *   bias?: boolean, anySize?: boolean }} [patch] patches of a picture; image is its height and width; with anySize,
 *   if it is a square, pictures may have another size, for which the positions are interpolated. In a web page,
 *   hl.openModel must have opened a model with anySize before. By default channels is 3,
 *   classTokens is 1, and the linear layer of patches has a bias
 * @property {number} [channels] number of audio features of a frame
 * @property {SoundOptions} [sound] convolutions over samples. In a web page, hl.openModel must have opened a model with
 *   this option before
 * @property {number} [tokenTypes] number of token types; default 0
 * @property {'logits' | 'pooled' | 'none'} [head] logits of every token, of the whole input, or none; default 'logits'
 * @property {number} [classes] number of classes of a pooled head, or of a head of every token whose logits are not for
 *   the tokens of vocab
 * @property {boolean} [taught] with a pooled head: a second head reads the distillation token, which is the second
 *   token; the logits are the mean of both heads. Default false
 * @property {number} [headWidth] width of the input of a head for logits, to which dModel is projected; default dModel.
 *   If the head is tied, it is embedDim
 * @property {'none' | 'norm' | 'plain'} [headTransform] a linear layer, an activation and, with 'norm', a norm before
 *   the head; default 'none'
 * @property {'gelu' | 'gelu-tanh' | 'quick-gelu' | 'relu' | 'silu'} [headActivation] activation of headTransform;
 *   default: the option activation
 * @property {'first' | 'last' | 'end' | 'mean' | 'first-mean' | 'last-row' | 'attention' | 'none'} [pool] which token
 *   represents the input. 'first': the first; 'last': the last that is not padding; 'end': the first with endToken;
 *   'mean': the mean of all that are not padding; 'first-mean': the first followed by the mean of the others (2·C);
 *   'last-row': the last, even if it is padding; 'attention': the output of one more block whose only query is learned.
 *   Default 'none', with a pooled head 'first'
 * @property {'tanh' | 'linear' | 'affine' | 'relu' | 'none'} [pooler] linear layer and activation after pooling;
 *   'linear' has no bias and 'affine' has one, both without activation; default 'none'
 * @property {number} [poolDim] width of the pooler; default dModel
 * @property {number} [endToken] id of the token for pool 'end'; default: the token with the largest id
 * @property {number} [poolSkip] with pool 'last' and no keep: id of the padding token, which is not pooled; default:
 *   none
 * @property {number} [relationship] number of classes of a second head on the pooled token; default 0, no such head
 * @property {boolean} [cross] attention to an encoder; default true if there is one
 * @property {boolean} [sharedEmbedding] for an encoder, true: it uses the decoder's embedding table
 * @property {number} [std] standard deviation of the initial embedding; default 0.5, so that the initial embeddings of
 *   different tokens are far apart
 * @property {number} [dropout] probability of dropping an attention weight in training; default 0
 * @property {number} [seed] seed of all initial parameters and of dropout; default 0
 * @property {TransformerOptions} [encoder] an encoder, to which this model attends as the decoder
 */

const COUNT = { integer: true, least: 0, most: 2 ** 20 };
const NOT_NEGATIVE = { least: 0 };
const KEY_NORMS = /** @type {const} */ ([false, true, 'all', 'layer', 'each']);
const ACTIVATIONS = ['gelu', 'gelu-tanh', 'quick-gelu', 'relu', 'silu'];
const WORDS = {
  norm: ['layer', 'rms', 'none'],
  normPlace: ['before', 'after', 'both', 'parallel', 'stream', 'outputs'],
  positions: ['learned', 'sinusoidal', 'rotary', 'alibi', 'buckets', 'none'],
  sinusoids: ['pairs', 'halves', 'inclusive'],
  activation: ACTIVATIONS,
  headActivation: ACTIVATIONS,
  input: ['tokens', 'patches', 'audio', 'sound'],
  embedProject: ['tokens', 'sum'],
  head: ['logits', 'pooled', 'none'],
  headTransform: ['none', 'norm', 'plain'],
  pool: ['none', 'first', 'last', 'end', 'mean', 'first-mean', 'last-row', 'attention'],
  pooler: ['none', 'tanh', 'linear', 'affine', 'relu'],
};

/** @typedef {'rotary' | 'buckets' | 'disentangled' | 'bias' | 'window' | 'tokenDropout' | 'patch' | 'sound' |
 *   'padToken' | 'endToken' | 'poolSkip' | 'encoder'} Special */
/**
 * @typedef {Readonly<Required<Omit<TransformerOptions, Special>> & {
 *   rotary: ResolvedRotary | undefined,
 *   buckets: Readonly<{ count: number, distance: number }> | undefined,
 *   disentangled: Disentangled |
 *   undefined,
 *   bias: Readonly<Required<BiasOptions>>,
 *   window: readonly (number | null)[] | null,
 *   patch: Readonly<{ size: number, image: readonly [number, number], channels: number, classTokens: number,
 *   bias: boolean, anySize: boolean }> | undefined,
 *   sound: Sound | undefined,
 *   tokenDropout: Readonly<{ token: number, share: number }> | undefined,
 *   padToken: number | undefined,
 *   endToken: number | undefined,
 *   poolSkip: number | undefined,
 *   encoder: Resolved | undefined,
 * }>} Resolved
 */

/** Checks options. It has a method for each kind of option, which returns the option or its default. */
class OptionReader {
  /** @param {string} caller @param {TransformerOptions} given */
  constructor(caller, given) {
    this.caller = caller;
    this.given = given;
  }

  /** @param {keyof TransformerOptions} name @param {number} [standard] default; without it the option is required */
  size(name, standard) {
    return readNumber(this.caller, name, this.given[name] ?? standard, SIZE);
  }

  /** @param {keyof TransformerOptions} name @param {number} [standard] default; without it the option is required */
  count(name, standard) {
    return readNumber(this.caller, name, this.given[name] ?? standard, COUNT);
  }

  /** @param {keyof TransformerOptions} name */
  optionalCount(name) {
    return this.given[name] === undefined ? undefined : this.count(name);
  }

  /** @param {keyof TransformerOptions} name @param {boolean} standard */
  flag(name, standard) {
    return readBoolean(this.caller, name, this.given[name] ?? standard);
  }

  /** @param {keyof TransformerOptions} name @param {number} standard */
  amount(name, standard) {
    return readNumber(this.caller, name, this.given[name] ?? standard, NOT_NEGATIVE);
  }

  /** @template {keyof typeof WORDS} K @param {K} name @param {string} [standard] */
  word(name, standard = WORDS[name][0]) {
    const word = readWord(this.caller, name, this.given[name] ?? standard, WORDS[name]);
    return /** @type {NonNullable<TransformerOptions[K]>} */ (word);
  }
}

/** @param {OptionReader} reader */
function readSizes(reader) {
  const { caller, given } = reader;
  const fail = (/** @type {string} */ text, /** @type {string} */ parameter, /** @type {number} */ got) =>
    new HeadlightError('SHAPE', `${caller}: ${text}`, { parameter, got });
  const [dModel, numHeads] = [reader.size('dModel'), reader.size('numHeads')];
  if (given.headDim === undefined && dModel % numHeads !== 0)
    throw fail(`dModel ${dModel} is not a multiple of numHeads ${numHeads}`, 'numHeads', numHeads);
  const kvHeads = reader.size('kvHeads', numHeads);
  if (numHeads % kvHeads !== 0)
    throw fail(`numHeads ${numHeads} is not a multiple of kvHeads ${kvHeads}`, 'kvHeads', kvHeads);
  const needsVocab = reader.word('input') === 'tokens' || reader.word('head') === 'logits';
  return {
    layers: reader.count('layers'),
    dModel,
    numHeads,
    vocab: needsVocab ? reader.size('vocab') : reader.count('vocab', 0),
    context: reader.size('context'),
    kvHeads,
    headDim: reader.size('headDim', dModel / numHeads),
    mlp: reader.count('mlp', 4 * dModel),
    causal: reader.flag('causal', true),
  };
}

/** @param {OptionReader} reader */
function readNorms(reader) {
  const normPlace = reader.word('normPlace');
  return {
    norm: reader.word('norm'),
    normEps: reader.amount('normEps', 1e-5),
    normScale: reader.flag('normScale', true),
    normPlace,
    sharedBlocks: reader.flag('sharedBlocks', false),
    firstNorm: reader.flag('firstNorm', true),
    sharedNorm: reader.flag('sharedNorm', false),
    finalNorm: reader.flag('finalNorm', normPlace !== 'after'),
    embedNorm: reader.flag('embedNorm', false),
  };
}

/** @param {OptionReader} reader @param {{ headDim: number, layers: number, causal: boolean }} sizes */
function readPositions(reader, sizes) {
  const { caller, given } = reader;
  const positions = reader.word('positions');
  const positionOffset = reader.count('positionOffset', 0);
  const padToken = reader.optionalCount('padToken');
  if (padToken !== undefined && !['learned', 'sinusoidal'].includes(positions))
    throw argumentError(caller, 'padToken', padToken, `none, as positions '${positions}' count every token`);
  if (padToken !== undefined && positionOffset === 0)
    throw argumentError(caller, 'positionOffset', 0, 'at least 1, because padToken has the row before position 0');
  return {
    positions,
    sinusoids: reader.word('sinusoids'),
    positionOffset,
    padToken,
    countPadding: reader.flag('countPadding', !sizes.causal || reader.flag('cross', given.encoder !== undefined)),
    rotary: positions === 'rotary' ? readRotary(caller, given.rotary ?? {}, sizes) : undefined,
    buckets: positions === 'buckets' || given.buckets ? readBuckets(caller, given.buckets ?? {}) : undefined,
    disentangled:
      given.disentangled && rarePart('disentangled', caller).readDisentangled(caller, given.disentangled, given),
  };
}

/** @param {OptionReader} reader @param {{ headDim: number, layers: number }} sizes */
function readLayers(reader, { headDim, layers }) {
  const { caller, given } = reader;
  return {
    activation: reader.word('activation', 'gelu-tanh'),
    gated: reader.flag('gated', false),
    bias: readBias(caller, given.bias ?? true),
    tied: reader.flag('tied', false),
    window: readWindows(caller, given.window, layers),
    scale: readScale(caller, given.scale ?? 1 / Math.sqrt(headDim), layers),
    embedScale: readNumber(caller, 'embedScale', given.embedScale ?? 1),
    residualScale: readNumber(caller, 'residualScale', given.residualScale ?? 1),
    logitScale: readNumber(caller, 'logitScale', given.logitScale ?? 1),
    softcap: reader.amount('softcap', 0),
    logitSoftcap: reader.amount('logitSoftcap', 0),
    layerScale: reader.flag('layerScale', false),
    queryKeyNorm: readQueryKeyNorm(caller, given.queryKeyNorm ?? false),
    sinks: reader.flag('sinks', false),
  };
}

/** @param {OptionReader} reader @param {number} dModel */
function readEmbedding(reader, dModel) {
  const input = reader.word('input');
  const embedProject = reader.word('embedProject');
  if (embedProject === 'sum' && input !== 'tokens')
    throw argumentError(reader.caller, 'embedProject', embedProject, `'tokens', as the input is '${input}'`);
  return {
    input,
    embedDim: reader.size('embedDim', dModel),
    embedProject,
    tokenDropout: readTokenDropout(reader.caller, reader.given),
    patch: input === 'patches' ? readPatch(reader.caller, reader.given.patch) : undefined,
    channels: input === 'audio' ? reader.size('channels') : 0,
    sound:
      input === 'sound'
        ? rarePart('sound', reader.caller).readSound(reader.caller, reader.given.sound, dModel)
        : undefined,
    tokenTypes: reader.count('tokenTypes', 0),
  };
}

/** @param {OptionReader} reader @param {{ dModel: number, embedDim: number, tied: boolean }} model */
function readHead(reader, { dModel, embedDim, tied }) {
  const { caller } = reader;
  const head = reader.word('head');
  const headWidth = reader.size('headWidth', tied ? embedDim : dModel);
  if (tied && headWidth !== embedDim)
    throw argumentError(caller, 'headWidth', headWidth, `${embedDim}, embedDim, as the head is tied`);
  const pool = reader.word('pool', head === 'pooled' ? 'first' : 'none');
  if (head === 'pooled' && pool === 'none')
    throw argumentError(caller, 'pool', pool, "'first' or another pooling, as the head is 'pooled'");
  return {
    head,
    classes: head === 'pooled' ? reader.size('classes') : head === 'logits' && !tied ? reader.count('classes', 0) : 0,
    taught: reader.flag('taught', false) && head === 'pooled',
    headWidth,
    headTransform: reader.word('headTransform'),
    headActivation: reader.word('headActivation', reader.word('activation', 'gelu-tanh')),
    pool,
    pooler: reader.word('pooler'),
    poolDim: reader.size('poolDim', dModel),
    endToken: reader.optionalCount('endToken'),
    poolSkip: reader.optionalCount('poolSkip'),
    relationship: reader.count('relationship', 0),
  };
}

/** The names of all options. Any resolved options have all of them. @type {string[] | undefined} */
let names;

/**
 * @param {TransformerOptions} options
 * @param {string} [caller]
 * @returns {Resolved}
 */
export function resolveOptions(options, caller = 'transformer') {
  names ??= Object.keys(resolve({ layers: 0, dModel: 1, numHeads: 1, vocab: 1, context: 1 }, caller));
  return resolve(readOptions(caller, options, names), caller);
}

/** @param {TransformerOptions} given @param {string} caller @returns {Resolved} */
function resolve(given, caller) {
  const reader = new OptionReader(caller, given);
  const sizes = readSizes(reader);
  const norms = readNorms(reader);
  const layers = readLayers(reader, sizes);
  const embedding = readEmbedding(reader, sizes.dModel);
  const encoder = given.encoder === undefined ? undefined : resolveOptions(given.encoder, `${caller}: encoder`);
  const cross = reader.flag('cross', encoder !== undefined);
  if (cross && (norms.normPlace === 'parallel' || norms.normPlace === 'outputs')) {
    const expected = "'before', 'after', 'both' or 'stream' with attention to an encoder";
    throw argumentError(caller, 'normPlace', norms.normPlace, expected);
  }
  return Object.freeze({
    ...sizes,
    ...norms,
    ...readPositions(reader, sizes),
    ...layers,
    ...embedding,
    ...readHead(reader, { ...sizes, ...embedding, ...layers }),
    cross,
    sharedEmbedding: reader.flag('sharedEmbedding', false),
    std: reader.amount('std', 0.5),
    dropout: readNumber(caller, 'dropout', given.dropout ?? 0, { least: 0, most: 1 }),
    seed: readNumber(caller, 'seed', given.seed ?? 0, { integer: true, least: 0, most: 2 ** 24 }),
    encoder,
  });
}

/** @param {string} caller @param {boolean | BiasOptions} bias */
function readBias(caller, bias) {
  const where = `${caller}: bias`;
  const all = bias === true;
  const layers = { query: all, key: all, value: all, out: all, mlp: all };
  const standard = { ...layers, norm: true, transform: true, pooler: false, head: false };
  const given = typeof bias === 'boolean' ? {} : readOptions(where, bias, Object.keys(standard));
  const read = Object.entries({ ...standard, ...given }).map(([name, flag]) => [name, readBoolean(where, name, flag)]);
  return /** @type {Readonly<Required<BiasOptions>>} */ (Object.freeze(Object.fromEntries(read)));
}

/** @param {string} caller @param {unknown} value */
function readQueryKeyNorm(caller, value) {
  const kind = KEY_NORMS.find((known) => known === value);
  if (kind === undefined) throw argumentError(caller, 'queryKeyNorm', value, "true, false, 'all', 'layer' or 'each'");
  return kind;
}

/** @param {string} caller @param {number | readonly number[]} scale @param {number} layers */
function readScale(caller, scale, layers) {
  if (!Array.isArray(scale)) return readNumber(caller, 'scale', scale);
  if (scale.length !== layers)
    throw argumentError(caller, 'scale', scale, `a number, or ${layers}, one for each layer`);
  return Object.freeze(scale.map((factor, i) => readNumber(caller, `scale[${i}]`, factor)));
}

/** True if the outputs of attention and feed-forward are normalized. @param {{ normPlace?: string }} options */
export const normsOutputs = ({ normPlace }) => normPlace === 'both' || normPlace === 'outputs';

/** Returns the factor of the scores of a layer. @param {Resolved} options @param {number} layer */
export const scaleOf = ({ scale }, layer) => (typeof scale === 'number' ? scale : scale[layer]);

/** @param {string} caller @param {TransformerOptions['window']} window @param {number} layers */
function readWindows(caller, window, layers) {
  if (window === undefined || window === null) return null;
  const list = Array.isArray(window) ? window : Array.from({ length: layers }, () => window);
  if (list.length !== layers)
    throw argumentError(caller, 'window', window, `a number, or ${layers}, one for each layer`);
  return Object.freeze(
    list.map((width, i) =>
      width === null ? null : readNumber(caller, `window[${i}]`, width, { ...SIZE, most: 2 ** 31 - 1 }),
    ),
  );
}
