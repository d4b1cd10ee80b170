// Exports a transformer. This file handles the options, inputs and outputs of the graph. stack.ts, embedding.ts,
// models/block.ts and head.ts build the rest.

import { readBoolean, readNumber, readWord } from '../check/arguments.ts';
import { argumentError } from '../check/errors.ts';
import { block } from '../models/block.ts';
import { readValues } from '../models/edits.ts';
import { pairAcross } from '../models/mixers/crossAttention.onnx.ts';
import type { Resolved } from '../models/options.ts';
import { plainNorms, pooledWidth } from '../models/parameters.ts';
import type { Transformer } from '../models/transformer.ts';
import { embed } from './embedding.ts';
import { type Dim, type ElementType, type OnnxFiles, OnnxGraph } from './graph.ts';
import { head } from './head.ts';
import { huggingFaceName } from './names.ts';
import type { Value } from './operators.ts';
import { CALLER, FILE_OPTIONS, type FileOptions, readFileOptions, readKnown } from './options.ts';
import { Parameters, type Shared } from './parameters.ts';
import { soundInputs } from './sound.ts';
import { type Inputs, lengthOf, type Pair, Stack } from './stack.ts';
import { tensor } from './weight.ts';

export type OnnxModelOptions = FileOptions & ModelChoices;
export type ModelChoices = {
  /** adds the attention weights of all blocks or of these blocks as outputs; default false */
  weights?: boolean | readonly number[] | undefined;
  /** intermediate values to add as outputs, by their names in forward */
  capture?: readonly string[] | undefined;
  /** true to output only the logits of the last token; default false */
  last?: boolean | undefined;
  /** adds the input keep (B,S), true for real tokens; default false, so that all tokens are real */
  keep?: boolean | undefined;
  /** adds the input typeIds (B,T); default false, so that all tokens have type 0 */
  typeIds?: boolean | undefined;
  /** adds the input positions (B,T); default false, so that the graph computes them by counting tokens */
  positions?: boolean | undefined;
  /**
   * names of inputs and outputs. 'headlight' (default): those of forward. 'hugging-face': those of transformers.js;
   * then keep has int64, and keep and typeIds are true by default if the model supports them
   */
  names?: 'headlight' | 'hugging-face' | undefined;
};
/** The validated options. theirs: true for the names of Hugging Face. */
export type Given = {
  opset: number;
  external: boolean;
  cache: boolean;
  last: boolean;
  keep: boolean;
  typeIds: boolean;
  positions: boolean;
  theirs: boolean;
};
/** Makes one file, whose graph `write` builds. */
export type Write = (file: string, write: (shared: Shared) => void) => OnnxFiles;

const FLAGS = ['last', 'keep', 'typeIds', 'positions'] as const;
const OPTIONS = [...FILE_OPTIONS, 'weights', 'capture', 'names', ...FLAGS];

/** Returns the files by name: model.onnx, or encoder.onnx and decoder.onnx for a model with an encoder and a cache. */
export function writeModel(model: Transformer, options: OnnxModelOptions = {}): OnnxFiles {
  const read = readKnown(options, OPTIONS);
  const given = readGiven(model.options, read);
  const values = readValues(CALLER, model.options, captured(model.options, read), undefined, new ArrayBuffer(0));
  const write: Write = (file, fill) => {
    const graph = new OnnxGraph({ ...given, file, nameOf: given.theirs ? huggingFaceName : undefined });
    fill({ graph, weightOf: weightsOf(model, graph), captures: (name) => values.captures(name) });
    return graph.finish(model.family ?? 'transformer');
  };
  return model.options.encoder && given.cache
    ? writeSeparate(model.options, model.options.encoder, given, write)
    : write('model', (shared) => writeWhole(shared, model.options, given));
}

function readGiven(options: Resolved, read: OnnxModelOptions): Given {
  const stacks = options.encoder ? [options, options.encoder] : [options];
  const names = readWord(CALLER, 'names', read.names ?? 'headlight', ['headlight', 'hugging-face']);
  const theirs = names === 'hugging-face';
  if (theirs && options.encoder)
    throw argumentError(CALLER, 'names', names, "'headlight', because this model has an encoder");
  const defaults: OnnxModelOptions = {
    keep: theirs && options.input === 'tokens',
    typeIds: theirs && hasTypes(options),
  };
  const flags = Object.fromEntries(
    FLAGS.map((name) => [name, readBoolean(CALLER, name, read[name] ?? defaults[name] ?? false)]),
  );
  const given = { ...readFileOptions(read), ...flags, theirs } as Given;
  const check = (name: keyof Given, fits: boolean, reason: string) => {
    if (given[name] && !fits) throw argumentError(CALLER, name, true, `false, because ${reason}`);
  };
  const hasPadding = stacks.some(({ input }) => input === 'tokens' || input === 'sound');
  check('cache', options.input === 'tokens' && options.layers > 0, 'this model has no tokens whose keys can be cached');
  check('last', options.head === 'logits', 'this model has no logits of every token');
  check('keep', hasPadding, 'this model reads no tokens');
  check('typeIds', stacks.some(hasTypes), 'this model has no token types');
  check('positions', stacks.some(countsPositions), 'this model has no absolute or rotary positions');
  if (options.cross && !options.encoder)
    throw argumentError(CALLER, 'encoder', undefined, 'an encoder, because this model has cross-attention');
  return given;
}

const hasTypes = ({ input, tokenTypes }: Resolved) => input === 'tokens' && tokenTypes > 0;
const countsPositions = ({ input, positions }: Resolved) =>
  input === 'tokens' && ['learned', 'sinusoidal', 'rotary'].includes(positions);

/** Returns the names of values that are outputs. */
function captured({ layers, cross, encoder }: Resolved, { weights = false, capture = [] }: OnnxModelOptions) {
  if (!Array.isArray(capture)) throw argumentError(CALLER, 'capture', capture, 'a list of names');
  capture.forEach((name, i) => {
    if (/\.scores$/.test(name))
      throw argumentError(CALLER, `capture[${i}]`, name, 'another value, because the graph has weights, but no scores');
  });
  if (typeof weights !== 'boolean' && !Array.isArray(weights))
    throw argumentError(CALLER, 'weights', weights, 'true, false or a list of blocks');
  const most = layers - 1;
  const blocks = Array.isArray(weights)
    ? weights.map((i) => readNumber(CALLER, 'weights', i, { integer: true, least: 0, most }))
    : weights
      ? ['*']
      : [];
  const names = blocks.flatMap((i) => [`blocks.${i}.weights`, ...(cross ? [`blocks.${i}.cross.weights`] : [])]);
  return [...capture, ...names, ...(weights === true && encoder ? ['encoder.blocks.*.weights'] : [])];
}

function weightsOf(model: Transformer, graph: OnnxGraph): Shared['weightOf'] {
  const made: Map<string, Value> = new Map();
  const plain = plainNorms(model.options);
  const make = (name: string) => {
    const weight = model.weights.get(name);
    const width = plain.get(name);
    if (width) return graph.weight(name, new Float32Array(width).fill(1), [width]);
    if (!weight) return undefined;
    const { shape, packed } = weight;
    return tensor(graph, { name, shape, data: () => model.valuesOf(name, CALLER), int8: packed?.kind === 'int8' });
  };
  return (name) => {
    const value = made.get(name) ?? make(name);
    if (value) made.set(name, value);
    return value;
  };
}

/** Writes the encoder, if there is one, and the decoder as one graph. */
function writeWhole(shared: Shared, options: Resolved, given: Given) {
  let across;
  if (options.encoder) {
    const stack = new Stack(
      shared,
      options.encoder,
      'encoder.',
      makeInputs(shared, options.encoder, 'encoder.', given),
    );
    const encoded = writeBlocks(stack);
    const parameters = new Parameters(shared, options, '');
    const pairs = Array.from({ length: options.layers }, (_, i) => pairAcross(parameters, i, encoded));
    across = { pairs, keep: stack.inputs.keep, length: stack.length };
  }
  const past = given.cache ? makePast(shared, options) : undefined;
  writeStack(new Stack(shared, options, '', { ...makeInputs(shared, options, '', given), past }, across), given);
}

/**
 * Writes two graphs: the encoder outputs the keys and values for cross-attention, and the decoder has these keys and
 * values as inputs, so that they are computed only once.
 */
function writeSeparate(options: Resolved, encoder: Resolved, given: Given, write: Write) {
  const { kvHeads, headDim, layers } = options;
  const length = lengthOf(encoder, 'encoder.');
  const blocks = Array.from({ length: layers }, (_, i) => i);
  const dims: Dim[] = ['batch', kvHeads, length, headDim];
  const first = write('encoder', (shared) => {
    const { graph } = shared;
    const encoded = writeBlocks(new Stack(shared, encoder, 'encoder.', makeInputs(shared, encoder, 'encoder.', given)));
    const parameters = new Parameters(shared, options, '');
    graph.output('encoder.hidden', encoded, 'float', ['batch', length, encoder.dModel]);
    for (const i of blocks) {
      const { key, value } = pairAcross(parameters, i, encoded);
      graph.output(`crossKey.${i}`, key, 'float', dims);
      graph.output(`crossValue.${i}`, value, 'float', dims);
    }
  });
  const second = write('decoder', (shared) => {
    const { graph } = shared;
    const padded = given.keep && encoder.input === 'tokens';
    const inputs = makeInputs(shared, options, '', given);
    const keep = padded ? graph.input('encoder.keep', 'bool', ['batch', length]) : undefined;
    const pairs = blocks.map((i) => ({
      key: graph.input(`crossKey.${i}`, 'float', dims),
      value: graph.input(`crossValue.${i}`, 'float', dims),
    }));
    const past = makePast(shared, options);
    writeStack(new Stack(shared, options, '', { ...inputs, past }, { pairs, keep, length }), given);
  });
  return { ...first, ...second };
}

function makeInputs({ graph }: Shared, options: Resolved, prefix: string, given: Given): Inputs {
  const { input, patch, sound, channels, context } = options;
  const make = (name: string, type: ElementType, ...sizes: Dim[]) =>
    graph.input(prefix + name, type, ['batch', ...sizes]);
  if (patch) return { pixels: make('pixels', 'float', patch.channels, ...patch.image) };
  if (input === 'audio') return { features: make('features', 'float', channels, 2 * context) };
  const length = `${prefix}length`;
  const makeKeep = (keys = given.cache && prefix === '' ? 'keys' : length) =>
    given.theirs ? graph.cast(make('keep', 'int64', keys), 'bool') : make('keep', 'bool', keys);
  const samples = `${prefix}samples`;
  if (sound)
    return soundInputs(graph, sound, make('samples', 'float', samples), given.keep ? makeKeep(samples) : undefined);
  return {
    ids: make('ids', 'int64', length),
    keep: given.keep ? makeKeep() : undefined,
    typeIds: given.typeIds && hasTypes(options) ? make('typeIds', 'int64', length) : undefined,
    positions: given.positions && countsPositions(options) ? make('positions', 'int64', length) : undefined,
  };
}

function makePast({ graph }: Shared, { layers, kvHeads, headDim }: Resolved): Pair[] {
  const dims = ['batch', kvHeads, 'past', headDim];
  return Array.from({ length: layers }, (_, i) => ({
    key: graph.input(`pastKey.${i}`, 'float', dims),
    value: graph.input(`pastValue.${i}`, 'float', dims),
  }));
}

/** Builds a stack from the input to the final norm. */
function writeBlocks(stack: Stack) {
  let x = embed(stack);
  for (let i = 0; i < stack.options.layers; i++) x = block(stack, i, x);
  return stack.passRows('final', stack.norm('norm', x));
}

/** Writes a stack with its head and outputs. */
function writeStack(stack: Stack, given: Given) {
  const { graph, options, length } = stack;
  const { head: kind, vocab, classes, dModel, kvHeads, headDim, relationship } = options;
  const hidden = writeBlocks(stack);
  const results = head(stack, hidden, given.last);
  const output = (name: string, value: Value | undefined, ...dims: Dim[]) =>
    value && graph.output(name, value, 'float', ['batch', ...dims]);
  if (kind === 'none') output('hidden', hidden, length, dModel);
  if (kind === 'logits') output('logits', results.logits, given.last ? 1 : length, classes || vocab);
  if (kind === 'pooled') output('logits', results.logits, classes);
  output('pooled', results.pooled, pooledWidth(options));
  output('relationship', results.relationship, relationship);
  if (!given.cache) return;
  stack.present.forEach(({ key, value }, i) => {
    output(`presentKey.${i}`, key, kvHeads, 'keys', headDim);
    output(`presentValue.${i}`, value, kvHeads, 'keys', headDim);
  });
}
