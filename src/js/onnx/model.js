// Exports a transformer. This file handles the options, inputs and outputs of the graph. stack.js, embedding.js,
// block.js and head.js build the rest.

import { readBoolean, readNumber, readWord } from '../check/arguments.js';
import { argumentError } from '../check/errors.js';
import { readValues } from '../models/edits.js';
import { plainNorms, pooledWidth } from '../models/parameters.js';
import { block, pairAcross } from './block.js';
import { embed } from './embedding.js';
import { OnnxGraph } from './graph.js';
import { head } from './head.js';
import { huggingFaceName } from './names.js';
import { CALLER, FILE_OPTIONS, readFileOptions, readKnown } from './options.js';
import { Parameters } from './parameters.js';
import { soundInputs } from './sound.js';
import { lengthOf, Stack } from './stack.js';
import { tensor } from './weight.js';

/** @import { Resolved } from '../models/options.js' */
/** @import { Transformer } from '../models/transformer.js' */
/** @import { Dim, OnnxFiles } from './graph.js' */
/** @import { Value } from './operators.js' */
/** @import { FileOptions } from './options.js' */
/** @import { Shared } from './parameters.js' */
/** @import { Inputs, Pair } from './stack.js' */

/** @typedef {FileOptions & ModelChoices} OnnxModelOptions */
/**
 * @typedef {object} ModelChoices
 * @property {boolean | readonly number[]} [weights] adds the attention weights of all blocks or of these blocks as
 *   outputs; default false
 * @property {readonly string[]} [capture] intermediate values to add as outputs, by their names in forward
 * @property {boolean} [last] true to output only the logits of the last token; default false
 * @property {boolean} [keep] adds the input keep (B,S), true for real tokens; default false, so that all tokens are
 *   real
 * @property {boolean} [typeIds] adds the input typeIds (B,T); default false, so that all tokens have type 0
 * @property {boolean} [positions] adds the input positions (B,T); default false, so that the graph computes them by
 *   counting tokens
 * @property {'headlight' | 'hugging-face'} [names] names of inputs and outputs. 'headlight' (default): those of
 *   forward. 'hugging-face': those of transformers.js; then keep has int64, and keep and typeIds are true by default if
 *   the model supports them
 */
/**
 * The validated options. theirs: true for the names of Hugging Face.
 * @typedef {{ opset: number, external: boolean, cache: boolean, last: boolean, keep: boolean, typeIds: boolean,
 *   positions: boolean, theirs: boolean }} Given
 */
/**
 * Makes one file, whose graph `write` builds.
 * @typedef {(file: string, write: (shared: Shared) => void) => OnnxFiles} Write
 */

const FLAGS = /** @type {const} */ (['last', 'keep', 'typeIds', 'positions']);
const OPTIONS = [...FILE_OPTIONS, 'weights', 'capture', 'names', ...FLAGS];

/**
 * Returns the files by name: model.onnx, or encoder.onnx and decoder.onnx for a model with an encoder and a cache.
 * @param {Transformer} model
 * @param {OnnxModelOptions} [options]
 * @returns {OnnxFiles}
 */
export function writeModel(model, options = {}) {
  const read = readKnown(options, OPTIONS);
  const given = readGiven(model.options, read);
  const values = readValues(CALLER, model.options, captured(model.options, read), undefined, new ArrayBuffer(0));
  /** @type {Write} */
  const write = (file, fill) => {
    const graph = new OnnxGraph({ ...given, file, nameOf: given.theirs ? huggingFaceName : undefined });
    fill({ graph, weightOf: weightsOf(model, graph), captures: (name) => values.captures(name) });
    return graph.finish(model.family ?? 'transformer');
  };
  return model.options.encoder && given.cache
    ? writeSeparate(model.options, model.options.encoder, given, write)
    : write('model', (shared) => writeWhole(shared, model.options, given));
}

/** @param {Resolved} options @param {OnnxModelOptions} read @returns {Given} */
function readGiven(options, read) {
  const stacks = options.encoder ? [options, options.encoder] : [options];
  const names = readWord(CALLER, 'names', read.names ?? 'headlight', ['headlight', 'hugging-face']);
  const theirs = names === 'hugging-face';
  if (theirs && options.encoder)
    throw argumentError(CALLER, 'names', names, "'headlight', because this model has an encoder");
  /** @type {OnnxModelOptions} */
  const defaults = { keep: theirs && options.input === 'tokens', typeIds: theirs && hasTypes(options) };
  const flags = Object.fromEntries(
    FLAGS.map((name) => [name, readBoolean(CALLER, name, read[name] ?? defaults[name] ?? false)]),
  );
  const given = /** @type {Given} */ ({ ...readFileOptions(read), ...flags, theirs });
  /** @param {keyof Given} name @param {boolean} fits @param {string} reason */
  const check = (name, fits, reason) => {
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

/** @param {Resolved} options */
const hasTypes = ({ input, tokenTypes }) => input === 'tokens' && tokenTypes > 0;
/** @param {Resolved} options */
const countsPositions = ({ input, positions }) =>
  input === 'tokens' && ['learned', 'sinusoidal', 'rotary'].includes(positions);

/** Returns the names of values that are outputs. @param {Resolved} options @param {OnnxModelOptions} read */
function captured({ layers, cross, encoder }, { weights = false, capture = [] }) {
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

/** @param {Transformer} model @param {OnnxGraph} graph @returns {Shared['weightOf']} */
function weightsOf(model, graph) {
  /** @type {Map<string, Value>} */
  const made = new Map();
  const plain = plainNorms(model.options);
  /** @param {string} name */
  const make = (name) => {
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

/**
 * Writes the encoder, if there is one, and the decoder as one graph.
 * @param {Shared} shared
 * @param {Resolved} options
 * @param {Given} given
 */
function writeWhole(shared, options, given) {
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
 * @param {Resolved} options
 * @param {Resolved} encoder
 * @param {Given} given
 * @param {Write} write
 */
function writeSeparate(options, encoder, given, write) {
  const { kvHeads, headDim, layers } = options;
  const length = lengthOf(encoder, 'encoder.');
  const blocks = Array.from({ length: layers }, (_, i) => i);
  /** @type {Dim[]} */
  const dims = ['batch', kvHeads, length, headDim];
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

/**
 * @param {Shared} shared
 * @param {Resolved} options
 * @param {string} prefix
 * @param {Given} given
 * @returns {Inputs}
 */
function makeInputs({ graph }, options, prefix, given) {
  const { input, patch, sound, channels, context } = options;
  /** @param {string} name @param {import('./graph.js').ElementType} type @param {Dim[]} sizes */
  const make = (name, type, ...sizes) => graph.input(prefix + name, type, ['batch', ...sizes]);
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

/** @param {Shared} shared @param {Resolved} options @returns {Pair[]} */
function makePast({ graph }, { layers, kvHeads, headDim }) {
  const dims = ['batch', kvHeads, 'past', headDim];
  return Array.from({ length: layers }, (_, i) => ({
    key: graph.input(`pastKey.${i}`, 'float', dims),
    value: graph.input(`pastValue.${i}`, 'float', dims),
  }));
}

/** Builds a stack from the input to the final norm. @param {Stack} stack */
function writeBlocks(stack) {
  let x = embed(stack);
  for (let i = 0; i < stack.options.layers; i++) x = block(stack, i, x);
  return stack.passRows('final', stack.norm('norm', x));
}

/** Writes a stack with its head and outputs. @param {Stack} stack @param {Given} given */
function writeStack(stack, given) {
  const { graph, options, length } = stack;
  const { head: kind, vocab, classes, dModel, kvHeads, headDim, relationship } = options;
  const hidden = writeBlocks(stack);
  const results = head(stack, hidden, given.last);
  /** @param {string} name @param {Value | undefined} value @param {Dim[]} dims */
  const output = (name, value, ...dims) => value && graph.output(name, value, 'float', ['batch', ...dims]);
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
