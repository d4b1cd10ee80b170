// Reads the options of a transformer: checks them and fills in the defaults.

import { readBoolean, readNumber, readOptions, readWord } from '../check/arguments.ts';
import { argumentError, HeadlightError } from '../check/errors.ts';
import type { Disentangled, DisentangledOptions } from './mixers/disentangledOptions.ts';
import { readBuckets, readPatch, readTokenDropout, SIZE } from './partOptions.ts';
import { type ResolvedRotary, type RotaryOptions, readRotary } from './positions/rotaryOptions.ts';
import { rarePart } from './rareParts.ts';
import type { Sound, SoundOptions } from './sound/options.ts';

/** which linear layers have a bias */
export type BiasOptions = {
  query?: boolean | undefined;
  key?: boolean | undefined;
  value?: boolean | undefined;
  /** output projection of attention */
  out?: boolean | undefined;
  mlp?: boolean | undefined;
  norm?: boolean | undefined;
  /** the layer of headTransform; default true */
  transform?: boolean | undefined;
  /** the pooler, if it is 'linear'; default false. Other poolers always have a bias */
  pooler?: boolean | undefined;
  head?: boolean | undefined;
};
export type TransformerOptions = {
  /** number of blocks; with 0 only embedding and head remain */
  layers: number;
  /** width of the model, C */
  dModel: number;
  /** heads of each block's attention, H */
  numHeads: number;
  /** number of ids: 0 to vocab − 1 */
  vocab?: number | undefined;
  /** length of the longest sequence */
  context: number;
  /** heads of keys and values, G; default numHeads */
  kvHeads?: number | undefined;
  /** width of a head, D; default dModel / numHeads */
  headDim?: number | undefined;
  /** width of the hidden layer of the feed-forward, 0 for none; default 4 · dModel */
  mlp?: number | undefined;
  /** true: a token attends only to itself and the tokens before it; default true */
  causal?: boolean | undefined;
  /** default 'layer' */
  norm?: 'layer' | 'rms' | 'none' | undefined;
  /** default 1e-5. With 0 the norm of a row of zeros, or for 'layer' of equal numbers, is NaN, as in PyTorch */
  normEps?: number | undefined;
  /** true: norms multiply by a weight; default true */
  normScale?: boolean | undefined;
  /**
   * where norms of attention and feed-forward are. 'before' (default): before each; 'after': after each sum; 'both':
   * before and after each; 'parallel': before both, which are computed in parallel; 'stream': before each, and their
   * output replaces the residual stream; 'outputs': after each, before the sum
   */
  normPlace?: 'before' | 'after' | 'both' | 'parallel' | 'stream' | 'outputs' | undefined;
  /** all blocks have the parameters of the first one; default false */
  sharedBlocks?: boolean | undefined;
  /** true: the first block begins with a norm; default true */
  firstNorm?: boolean | undefined;
  /** with 'parallel': attention and feed-forward have the same norm */
  sharedNorm?: boolean | undefined;
  /** a norm after the last block; default true, with normPlace 'after' false */
  finalNorm?: boolean | undefined;
  /** a norm after the embedding; default false */
  embedNorm?: boolean | undefined;
  /** default 'learned' */
  positions?: 'learned' | 'sinusoidal' | 'rotary' | 'alibi' | 'buckets' | 'none' | undefined;
  /**
   * with 'sinusoidal'. 'pairs' (default): each sine before its cosine; 'halves': all sines before all cosines;
   * 'inclusive': as 'halves', and the longest wave is exactly 10000 times the shortest
   */
  sinusoids?: 'pairs' | 'halves' | 'inclusive' | undefined;
  /** number of rows before position 0 in the table of positions; default 0 */
  positionOffset?: number | undefined;
  /**
   * true: a position is the token's index, also after padding; false: the number of tokens that `keep` keeps before it.
   * Default: false for causal models without an encoder, otherwise true
   */
  countPadding?: boolean | undefined;
  /**
   * the padding token, which learned and sinusoidal positions do not count. It gets the row before position 0, or zeros
   * as its sinusoids. positionOffset must be at least 1
   */
  padToken?: number | undefined;
  rotary?: RotaryOptions | undefined;
  /**
   * learned biases of relative positions, with positions 'buckets' or in addition to others; default: 32 buckets for
   * distances up to 128
   */
  buckets?: { count?: number; distance?: number } | undefined;
  /**
   * attention to relative positions, as in DeBERTa; default: none. In a web page, hl.openModel must have opened such a
   * model
   */
  disentangled?: DisentangledOptions | undefined;
  /** default 'gelu-tanh' */
  activation?: 'gelu' | 'gelu-tanh' | 'quick-gelu' | 'relu' | 'silu' | undefined;
  /** true: the hidden layer of the feed-forward is activation(gate) · up; default false */
  gated?: boolean | undefined;
  /** true: all layers except the head have a bias; false: only norms. Default true */
  bias?: boolean | BiasOptions | undefined;
  /** true: the head uses the embedding table; default false */
  tied?: boolean | undefined;
  /**
   * keys that a token attends to, for all layers or by layer. With `causal` the token's own key is included; otherwise
   * ⌊window/2⌋ keys on each side
   */
  window?: number | null | readonly (number | null)[] | undefined;
  /** factor of scores, for all layers or by layer; default 1/√headDim */
  scale?: number | readonly number[] | undefined;
  /** factor of embeddings; default 1 */
  embedScale?: number | undefined;
  /**
   * embeddings of this token are 0, others multiplied by (1 − share) / (1 − its share in the sequence); default: none
   */
  tokenDropout?: { token: number; share: number } | undefined;
  /** factor of the outputs of attention and feed-forward, before they are added to the residual stream; default 1 */
  residualScale?: number | undefined;
  /** factor of the head's input; default 1 */
  logitScale?: number | undefined;
  /** limits scores to softcap · tanh(score / softcap); default 0, none */
  softcap?: number | undefined;
  /** softcap of logits; default 0, none */
  logitSoftcap?: number | undefined;
  /** attention and feed-forward end with a learned factor for each channel; default false */
  layerScale?: boolean | undefined;
  /**
   * norm of queries and keys before rotation; default false. true: an RMS norm of each head, with weights shared by
   * all; 'all': one RMS norm of all heads, so that a head's query depends on the others; 'layer': a layer norm of each
   * head, with shared weights and biases; 'each': with its own weights and no bias
   */
  queryKeyNorm?: boolean | 'all' | 'layer' | 'each' | undefined;
  /** each head has a learned score that takes part in its softmax; default false */
  sinks?: boolean | undefined;
  /** 'audio' is a spectrogram, 'sound' are samples; default 'tokens' */
  input?: 'tokens' | 'patches' | 'audio' | 'sound' | undefined;
  /** width of the embedding table, projected to dModel if different; default dModel */
  embedDim?: number | undefined;
  /**
   * what is projected from embedDim to dModel. 'tokens' (default): embeddings of tokens, without a bias; 'sum': their
   * sum with positions and types, after its norm, with a bias
   */
  embedProject?: 'tokens' | 'sum' | undefined;
  /**
   * image is its height and width; with anySize, if it is a square, the positions are interpolated for other sizes. In
   * a web page, hl.openModel must have opened such a model. Defaults: channels 3, classTokens 1, a bias for the linear
   * layer
   */
  patch?:
    | {
        size: number;
        image: number | readonly [number, number];
        channels?: number;
        classTokens?: number;
        bias?: boolean;
        anySize?: boolean;
      }
    | undefined;
  /** number of audio features of a frame */
  channels?: number | undefined;
  /** convolutions over samples. In a web page, hl.openModel must have opened a model with this option before */
  sound?: SoundOptions | undefined;
  /** number of token types; default 0 */
  tokenTypes?: number | undefined;
  /** logits of every token, of the whole input, or none; default 'logits' */
  head?: 'logits' | 'pooled' | 'none' | undefined;
  /** number of classes of a pooled head, or of a head of every token whose logits are not for the tokens of vocab */
  classes?: number | undefined;
  /**
   * with a pooled head: the logits are the mean of it and a second head, which reads the second token, for
   * distillation; default false
   */
  taught?: boolean | undefined;
  /**
   * width of a head's input for logits, to which dModel is projected; default dModel, or embedDim if the head is tied
   */
  headWidth?: number | undefined;
  /** a linear layer, an activation and, with 'norm', a norm before the head; default 'none' */
  headTransform?: 'none' | 'norm' | 'plain' | undefined;
  /** activation of headTransform; default: the option activation */
  headActivation?: 'gelu' | 'gelu-tanh' | 'quick-gelu' | 'relu' | 'silu' | undefined;
  /**
   * which token represents the input. 'first'; 'last', without padding; 'end': the first endToken; 'mean', without
   * padding; 'first-mean': the first and the mean of the others (2·C); 'last-row', even if it is padding; 'attention':
   * one more block whose only query is learned. Default 'none', with a pooled head 'first'
   */
  pool?: 'first' | 'last' | 'end' | 'mean' | 'first-mean' | 'last-row' | 'attention' | 'none' | undefined;
  /**
   * linear layer and activation after pooling; 'linear' has no bias, 'affine' has one, both without activation; default
   * 'none'
   */
  pooler?: 'tanh' | 'linear' | 'affine' | 'relu' | 'none' | undefined;
  /** width of the pooler; default dModel */
  poolDim?: number | undefined;
  /** id of the token for pool 'end'; default: the token with the largest id */
  endToken?: number | undefined;
  /** with pool 'last' and no keep: id of the padding token, which is not pooled; default: none */
  poolSkip?: number | undefined;
  /** number of classes of a second head on the pooled token; default 0, no such head */
  relationship?: number | undefined;
  /** attention to an encoder; default true if there is one */
  cross?: boolean | undefined;
  /** for an encoder, true: it uses the decoder's embedding table */
  sharedEmbedding?: boolean | undefined;
  /** standard deviation of the initial embedding; default 0.5, so that different tokens are far apart */
  std?: number | undefined;
  /** probability of dropping an attention weight in training; default 0 */
  dropout?: number | undefined;
  /** seed of all initial parameters and of dropout; default 0 */
  seed?: number | undefined;
  /** an encoder, to which this model attends as the decoder */
  encoder?: TransformerOptions | undefined;
};

const COUNT = { integer: true, least: 0, most: 2 ** 20 };
const NOT_NEGATIVE = { least: 0 };
const KEY_NORMS = [false, true, 'all', 'layer', 'each'] as const;
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

export type Special =
  | 'rotary'
  | 'buckets'
  | 'disentangled'
  | 'bias'
  | 'window'
  | 'tokenDropout'
  | 'patch'
  | 'sound'
  | 'padToken'
  | 'endToken'
  | 'poolSkip'
  | 'encoder';
export type Resolved = Readonly<
  Required<Omit<TransformerOptions, Special>> & {
    rotary: ResolvedRotary | undefined;
    buckets: Readonly<{ count: number; distance: number }> | undefined;
    disentangled: Disentangled | undefined;
    bias: Readonly<Required<BiasOptions>>;
    window: readonly (number | null)[] | null;
    patch:
      | Readonly<{
          size: number;
          image: readonly [number, number];
          channels: number;
          classTokens: number;
          bias: boolean;
          anySize: boolean;
        }>
      | undefined;
    sound: Sound | undefined;
    tokenDropout: Readonly<{ token: number; share: number }> | undefined;
    padToken: number | undefined;
    endToken: number | undefined;
    poolSkip: number | undefined;
    encoder: Resolved | undefined;
  }
>;

/** Checks options. It has a method for each kind of option, which returns the option or its default. */
class OptionReader {
  declare caller: string;
  declare given: TransformerOptions;

  constructor(caller: string, given: TransformerOptions) {
    this.caller = caller;
    this.given = given;
  }

  /** standard: default; without it the option is required */
  size(name: keyof TransformerOptions, standard?: number) {
    return readNumber(this.caller, name, this.given[name] ?? standard, SIZE);
  }

  /** standard: default; without it the option is required */
  count(name: keyof TransformerOptions, standard?: number) {
    return readNumber(this.caller, name, this.given[name] ?? standard, COUNT);
  }

  optionalCount(name: keyof TransformerOptions) {
    return this.given[name] === undefined ? undefined : this.count(name);
  }

  flag(name: keyof TransformerOptions, standard: boolean) {
    return readBoolean(this.caller, name, this.given[name] ?? standard);
  }

  amount(name: keyof TransformerOptions, standard: number) {
    return readNumber(this.caller, name, this.given[name] ?? standard, NOT_NEGATIVE);
  }

  word<K extends keyof typeof WORDS>(name: K, standard: string = WORDS[name][0]) {
    const word = readWord(this.caller, name, this.given[name] ?? standard, WORDS[name]);
    return word as NonNullable<TransformerOptions[K]>;
  }
}

function readSizes(reader: OptionReader) {
  const { caller, given } = reader;
  const fail = (text: string, parameter: string, got: number) =>
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

function readNorms(reader: OptionReader) {
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

function readPositions(reader: OptionReader, sizes: { headDim: number; layers: number; causal: boolean }) {
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

function readLayers(reader: OptionReader, { headDim, layers }: { headDim: number; layers: number }) {
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

function readEmbedding(reader: OptionReader, dModel: number) {
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

function readHead(
  reader: OptionReader,
  { dModel, embedDim, tied }: { dModel: number; embedDim: number; tied: boolean },
) {
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

/** The names of all options. Any resolved options have all of them. */
let names: string[] | undefined;

export function resolveOptions(options: TransformerOptions, caller = 'transformer'): Resolved {
  names ??= Object.keys(resolve({ layers: 0, dModel: 1, numHeads: 1, vocab: 1, context: 1 }, caller));
  return resolve(readOptions(caller, options, names), caller);
}

function resolve(given: TransformerOptions, caller: string): Resolved {
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

function readBias(caller: string, bias: boolean | BiasOptions) {
  const where = `${caller}: bias`;
  const all = bias === true;
  const layers = { query: all, key: all, value: all, out: all, mlp: all };
  const standard = { ...layers, norm: true, transform: true, pooler: false, head: false };
  const given = typeof bias === 'boolean' ? {} : readOptions(where, bias, Object.keys(standard));
  const read = Object.entries({ ...standard, ...given }).map(([name, flag]) => [name, readBoolean(where, name, flag)]);
  return Object.freeze(Object.fromEntries(read)) as Readonly<Required<BiasOptions>>;
}

function readQueryKeyNorm(caller: string, value: unknown) {
  const kind = KEY_NORMS.find((known) => known === value);
  if (kind === undefined) throw argumentError(caller, 'queryKeyNorm', value, "true, false, 'all', 'layer' or 'each'");
  return kind;
}

function readScale(caller: string, scale: number | readonly number[], layers: number) {
  if (!Array.isArray(scale)) return readNumber(caller, 'scale', scale);
  if (scale.length !== layers)
    throw argumentError(caller, 'scale', scale, `a number, or ${layers}, one for each layer`);
  return Object.freeze(scale.map((factor, i) => readNumber(caller, `scale[${i}]`, factor)));
}

/** True if the outputs of attention and feed-forward are normalized. */
export const normsOutputs = ({ normPlace }: { normPlace?: string }) => normPlace === 'both' || normPlace === 'outputs';

export const scaleOf = ({ scale }: Resolved, layer: number) => (typeof scale === 'number' ? scale : scale[layer]);

function readWindows(caller: string, window: TransformerOptions['window'], layers: number) {
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
