// Opens a checkpoint. config.json describes the model; the table of its family maps tensors to parameters. Everything
// is checked before anything is allocated, then the tensors are read.

import { readNumber, readOptions, readSignal, readWord } from '../../check/arguments.js';
import { argumentError, HeadlightError, unreadable } from '../../check/errors.js';
import { quote, quoteNames } from '../../check/quote.js';
import { elementCount, formatShape, sameShape } from '../../check/shape.js';
import { isKnown, unknownDType } from '../../io/dtypes.js';
import { UnsupportedField } from '../families/common.js';
import { FAMILIES } from '../families/index.js';
import { resolveOptions } from '../options.js';
import { parameterShapes } from '../parameters.js';
import { Transformer } from '../transformer.js';
import { account } from './accounting.js';
import { readChatSource } from './chatSource.js';
import { openContainer } from './containers.js';
import { openFile, openFolder } from './files.js';
import { readGeneration } from './generationConfig.js';
import { readInner } from './innerFiles.js';
import { sourceOf, splitOf } from './naming.js';
import { readWeights } from './readWeights.js';
import { readSentence } from './sentenceTransformers.js';
import { readAll } from './smallFiles.js';
import { storedShape } from './tensorLayout.js';
import { hasOwnHead, tiedHeads } from './tying.js';

/** @import { ChatTemplates } from '../../text/chat/chatTemplate.js' */
/** @import { Tokenizer } from '../../text/tokenizer.js' */
/** @import { Memory } from '../../memory/memory.js' */
/** @import { Config, Family, TensorSource } from '../families/common.js' */
/** @import { HubPlatform } from '../../hub/types.js' */
/** @import { HubOptions } from '../../hub/options.js' */
/** @import { Folder, HubOrigin, ModelFiles, OpenPath } from './files.js' */
/** @import { Resolved, TransformerOptions } from '../options.js' */
/** @import { Container } from './containers.js' */
/** @import { Found, Storage, Stored } from './readWeights.js' */

/**
 * @typedef {object} OpenOptions
 * @property {'float32' | 'int8' | 'stored'} [weights] default 'float32'. With 'stored', matrices that the file stores
 *   as float16 or bfloat16 stay in this type: half the memory, the same results. Matrices that a GGUF file stores in
 *   fewer bits are rounded to float16. With 'int8', matrices are rounded to nine bits: 29% of the memory. Only models
 *   with float32 weights can be trained
 * @property {number} [layers] number of blocks that are opened, from the first; default: all
 * @property {AbortSignal} [signal]
 * @property {(progress: { read: number, total: number, name: string }) => unknown} [onProgress] bytes that
 *   have been read, all bytes, and the current tensor. A promise is awaited; if it rejects, openModel rejects
 * @property {HubOptions} [hub] for a model on the Hugging Face Hub
 */
/**
 * Where a model comes from: its id and commit if it was opened from the Hub, the files with its tensors, their format,
 * and the form of the weights in memory.
 * @typedef {Partial<HubOrigin> & { files: { name: string, size: number }[],
 *   format: 'safetensors' | 'gguf' | 'torch', weights: Storage }} ModelSource
 */
/**
 * A transformer with its config.json and its tokenizer. Without a tokenizer.json the tokenizer is undefined. For 'demo'
 * family and config are undefined.
 * @typedef {Transformer & { family: string, config: Record<string, any>, tokenizer: Tokenizer,
 *   source: ModelSource }} OpenedModel
 */

/** The search for missing tensors ends after so many. */
const MAX_MISSING = 1000;
const FLOATS = new Set(['F64', 'F32', 'F16', 'BF16', 'F8_E4M3', 'F8_E5M2']);
const CALLER = 'openModel';

/** @param {string} message @param {string} [parameter] @param {object} [more] */
const fail = (message, parameter, more = {}) =>
  new HeadlightError('FORMAT', `${CALLER}: ${message}`, { parameter, ...more });

/**
 * The environment of the module.
 * @typedef {object} Environment
 * @property {string} [module] the address of the module; the files of the demo are in the same folder
 * @property {OpenPath} [openPath] opens a folder on disk; only in Node
 * @property {() => Promise<HubPlatform>} [hub] the parts for models on the Hub; only in Node
 */

/**
 * @param {Memory} memory
 * @param {ModelFiles} files
 * @param {OpenOptions} options
 * @param {Environment} environment
 * @returns {Promise<OpenedModel>}
 */
export async function openModel(memory, files, options, environment) {
  const given = readOptions(CALLER, options, ['weights', 'layers', 'signal', 'onProgress', 'hub']);
  const words = /** @type {const} */ (['float32', 'int8', 'stored']);
  const storage = readWord(CALLER, 'weights', given.weights ?? 'float32', words);
  const { layers, onProgress } = given;
  const signal = readSignal(CALLER, given.signal);
  if (layers !== undefined) readNumber(CALLER, 'layers', layers, { integer: true, least: 0 });
  if (onProgress !== undefined && typeof onProgress !== 'function')
    throw argumentError(CALLER, 'onProgress', onProgress, 'a function');
  signal?.throwIfAborted();
  if (files === 'demo') {
    const { openDemo } = await import('../demo.js');
    const model = await openDemo(CALLER, memory, environment, { storage, layers, signal, onProgress });
    return /** @type {OpenedModel} */ (model);
  }
  const hub = { options: given.hub, platform: environment.hub };
  const folder = await openFolder(CALLER, files, environment.openPath, signal, hub);
  try {
    const container = await openContainer(folder, storage);
    const { config, generationConfig, tensors } = container;
    const generation = readGeneration(config, generationConfig);
    const { family, prefix } = recognise(container);
    const described = readConfig(family, prefix, container);
    if (described.tied && (await hasOwnHead(family, prefix, tensors, container.folder, signal))) described.tied = false;
    const resolved = resolve(family, described, layers, container);
    const found = locate(family, prefix, resolved, container);
    const unread = account(family, prefix, found, tensors.keys(), blocksOf(described, resolved));
    const weights = await readWeights(memory, container.folder, found, { storage, signal, onProgress });
    const model = new Transformer(memory, resolved, weights);
    try {
      model.sentence = await readSentence(folder);
      model.chatTemplates = await openChat(container);
      if (resolved.input === 'patches') model.preprocessor = await readInner(folder, 'preprocessor_config.json');
      await folder.complete?.();
      model.family = family.name;
      model.config = config;
      model.unread = unread;
      model.generation = generation;
      model.generationConfig = generationConfig;
      model.storedNames = new Map(found.map(({ name, names }) => [name, names[0]]));
      model.storedShapes = new Map(found.map(({ names, stored }) => [names[0], stored[0].shape]));
      model.source = await describeSource(folder, container, storage);
      const text = await container.openTokenizer();
      model.tokenizer = text?.tokenizer;
      model.tokenizerFile = text?.file;
      signal?.throwIfAborted();
      return /** @type {OpenedModel} */ (model);
    } catch (error) {
      model.dispose();
      throw error;
    }
  } finally {
    await folder.close();
  }
}

/**
 * The chat templates of a decoder, if its files have one.
 * @param {Container} container
 * @returns {Promise<ChatTemplates | undefined>}
 */
async function openChat({ folder, chat }) {
  const source = chat ?? (await readChatSource(folder));
  if (!source) return undefined;
  const { ChatTemplates } = await import('../../text/chat/chatTemplate.js');
  return new ChatTemplates(source);
}

/**
 * @param {Folder} folder
 * @param {Container} container
 * @param {Storage} weights
 * @returns {Promise<ModelSource>}
 */
async function describeSource(folder, { format, files }, weights) {
  const sizes = await Promise.all(files.map(async (name) => ({ name, size: (await folder.size(name)) ?? 0 })));
  return { ...folder.origin, files: sizes, format, weights };
}

/** The family, and the prefix of the tensors of its base model in these files. @param {Container} container */
function recognise({ config, tensors, family: given }) {
  const type = config.model_type;
  let family = given ?? FAMILIES.get(type);
  if (!family) {
    const types = [...FAMILIES.keys()].join(', ');
    throw fail(
      `config.json says model_type ${quote(type)}, which is not one of ${types}; hl.layersIn() finds the attention ` +
        'layers of other models',
      'model_type',
      { got: type, expected: types },
    );
  }
  if (config.quantization_config)
    throw fail('quantized checkpoints cannot be read: quantization_config', 'quantization_config');
  const { encoderOnly } = family;
  if (encoderOnly && !tensors.has(encoderOnly.without)) family = encoderOnly.family;
  const inside = Object.values(family.names)
    .map((source) => (typeof source === 'string' ? source : source.from))
    .filter((name) => !name.startsWith('/'));
  const known = inside.map((name) => name.replace('.L.', '.0.'));
  const count = (/** @type {string} */ prefix) =>
    known.filter((name) => tensors.has(prefix + name) || tensors.has(`${prefix}${name}.weight`)).length;
  const prefix = family.prefixes.reduce((best, other) => (count(other) > count(best) ? other : best));
  return { family, prefix };
}

/** @param {Family} family @param {string} prefix @param {Container} container */
function readConfig(family, prefix, container) {
  const { config, tensors } = container;
  const has = (/** @type {string} */ name) => tensors.has(name.startsWith('/') ? name.slice(1) : prefix + name);
  return checked(family, container, () => family.options(config, has));
}

/**
 * @param {Family} family
 * @param {TransformerOptions} options
 * @param {number | undefined} layers the first of them
 * @param {Container} container
 */
function resolve(family, options, layers, container) {
  const some = layers !== undefined && layers < options.layers ? firstLayers(options, layers) : {};
  return checked(family, container, () => resolveOptions({ ...options, ...some }, CALLER));
}

/**
 * The number of blocks in config.json, and of those that are opened.
 * @param {TransformerOptions} described
 * @param {Resolved} opened
 */
const blocksOf = (described, opened) =>
  new Map([
    ['', { configured: described.layers, opened: opened.layers }],
    ['encoder.', { configured: described.encoder?.layers ?? 0, opened: opened.encoder?.layers ?? 0 }],
  ]);

/**
 * @template T
 * @param {Family} family
 * @param {Container} container
 * @param {() => T} read reads the config
 */
function checked(family, { describedBy = 'config.json' }, read) {
  try {
    return read();
  } catch (error) {
    if (error instanceof UnsupportedField) throw fail(`${describedBy}: ${error.message}`, error.field);
    const { message, parameter = 'config.json' } = /** @type {HeadlightError} */ (error);
    throw fail(`${describedBy} does not describe a ${family.name}: ${message}`, parameter, { cause: error });
  }
}

/** @param {TransformerOptions} options @param {number} layers */
const firstLayers = ({ window, scale, rotary }, layers) => ({
  layers,
  ...(rotary?.layers && { rotary: { ...rotary, layers: rotary.layers.slice(0, layers) } }),
  ...(Array.isArray(window) && { window: window.slice(0, layers) }),
  ...(Array.isArray(scale) && { scale: scale.slice(0, layers) }),
});

/**
 * Finds the tensors of each parameter. Refuses missing tensors, and tensors of another type or shape.
 * @param {Family} family
 * @param {string} prefix
 * @param {Resolved} options
 * @param {Container} container
 * @returns {(Found & { names: string[] })[]}
 */
function locate(family, prefix, options, { tensors, describedBy = 'its config.json', nameOf = (name) => name }) {
  /** @type {string[]} */
  const missing = [];
  /** @type {(Found & { names: string[] })[]} */
  const found = [];
  for (const [name, shape] of parameterShapes(options)) {
    // A config.json may claim a million layers: the loop ends after the first missing tensors.
    if (missing.length > MAX_MISSING) break;
    const { source = { from: '' }, names } = sourceOf(family, prefix, name);
    // A tied embedding may be stored under the name of the head.
    const head = options.tied && name === 'embedding.table' ? tiedHeads(family, prefix, tensors, shape) : [];
    const present = [...names.filter((other) => tensors.has(other)), ...head];
    if (present.length === 0) missing.push(nameOf(names[0] ?? name));
    const stored = present
      .slice(0, source.form === 'stacked' ? 2 : 1)
      .map((other) => /** @type {Stored} */ (tensors.get(other)));
    for (const [i, tensor] of stored.entries()) checkStored(nameOf(present[i]), tensor, source, shape, options, name);
    found.push({ name, names: present, shape, source, stored, split: splitOf(options, name) });
  }
  if (missing.length > 0) {
    const text = `${quoteNames(missing)} ${missing.length > 1 ? 'are' : 'is'} missing`;
    const details = { expected: missing, got: [...tensors.keys()] };
    throw fail(`this is a ${family.name} by ${describedBy}, but ${text}`, missing[0], details);
  }
  return found;
}

/**
 * @param {string} name
 * @param {Stored} stored
 * @param {TensorSource} source
 * @param {readonly number[]} shape
 * @param {Resolved} options
 * @param {string} parameter
 */
function checkStored(name, { shape: got, dtype }, source, shape, options, parameter) {
  if (!isKnown(dtype)) throw unknownDType(CALLER, name, dtype);
  if (!FLOATS.has(dtype))
    throw fail(`${name} is of ${dtype}, expected one of ${[...FLOATS].join(', ')}`, name, { got: dtype });
  const expected = storedShape(source, shape, splitOf(options, parameter));
  const plain = !source.part && !source.transposed && source.form !== 'convolution';
  const rows = source.form === 'stacked' ? shape[0] : 1;
  // Axes of a patch, or leading axes of length 1, do not change the order of the numbers.
  const same =
    plain && got.length !== expected.length
      ? elementCount(got) * rows === elementCount(shape)
      : sameShape(got, expected);
  if (!same) throw fail(`${name} is ${formatShape(got)}, expected ${formatShape(expected)}`, name, { got, expected });
}

/**
 * @param {string | URL | Blob | ArrayBuffer | ArrayBufferView} file a path in Node, a URL, hf://owner/name, or its
 *   bytes
 * @param {Environment} environment
 */
export async function openTokenizerFile(file, environment) {
  const caller = 'openTokenizer';
  const { openTokenizer } = await import('../../text/tokenizer.js');
  if (file instanceof ArrayBuffer || ArrayBuffer.isView(file)) return openTokenizer(file);
  if (typeof file !== 'string' && !(file instanceof URL || file instanceof Blob))
    throw argumentError(caller, 'file', file, 'a path, a URL, a Blob or bytes');
  const { folder, name } = await openFile(caller, file, environment.openPath, { platform: environment.hub });
  try {
    const size = await folder.size(name, true);
    if (size === null) throw unreadable(caller, String(file), 'there is no such file');
    return openTokenizer(await readAll(folder, name, size));
  } finally {
    await folder.close();
  }
}
