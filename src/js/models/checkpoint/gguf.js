// Opens a checkpoint in a GGUF file, which may be split into parts. The metadata describes the model. The tensors get
// the names that Hugging Face gives them, so that the tables of families apply to them too.

import { HeadlightError } from '../../check/errors.js';
import { quote } from '../../check/quote.js';
import { elementCount, formatShape } from '../../check/shape.js';
import { readGgufHeader, typeOf } from '../../io/gguf.js';
import { dequantize } from '../../io/ggufTypes.js';
import { FAMILIES } from '../families/index.js';
import { ggufChatSource } from './chatSource.js';
import { ModelMetadata, makeConfig, readHeads } from './ggufConfig.js';
import { ggufFamily } from './ggufFamily.js';
import { ARCHITECTURES, FREQUENCIES, ggufName } from './ggufNames.js';
import { partNames } from './ggufParts.js';
import { makeViews, viewFolder } from './ggufTensors.js';

/** @import { GgufHeader } from '../../io/gguf.js' */
/** @import { Family } from '../families/common.js' */
/** @import { Container } from './containers.js' */
/** @import { Folder } from './files.js' */
/** @import { Architecture } from './ggufNames.js' */
/** @import { Located } from './ggufTensors.js' */
/** @import { Storage } from './readWeights.js' */

const CALLER = 'openModel';
/** Maximum number of factors of rotary frequencies, one for each pair of a head's elements. */
const MAX_FACTORS = 2 ** 16;

/** @param {string} file @param {string} message @param {string} parameter @param {object} [details] */
const fail = (file, message, parameter, details) =>
  new HeadlightError('FORMAT', `${CALLER}: ${file}: ${message}`, { parameter, ...details });

/**
 * @param {Folder} folder
 * @param {string} file name of the file, or of any of its parts
 * @param {Storage} storage with 'stored', matrices in blocks of a few bits keep these blocks; with 'int4', only
 *   matrices in blocks of 4 bits keep them
 * @returns {Promise<Container>}
 */
export async function openGguf(folder, file, storage) {
  const files = partNames(file);
  const first = await readHeader(folder, files[0]);
  const { metadata } = first;
  // This part is checked before other parts are requested, so that the name of a file alone does not cause thousands of
  // requests.
  checkPart(files, 0, metadata);
  const others = await Promise.all(files.slice(1).map((name) => readHeader(folder, name)));
  const located = mergeParts(files, [first, ...others]);
  const meta = new ModelMetadata(files[0], metadata);
  const [all, long, short] = await Promise.all(FREQUENCIES.map((name) => readNumbers(folder, located.get(name))));
  const config = makeConfig(meta, located, { all, long, short });
  const architecture = /** @type {Architecture} */ (ARCHITECTURES.get(meta.architecture));
  const views = makeViews(architecture, readHeads(meta), located.values(), storage);
  const family = /** @type {Family} */ (FAMILIES.get(config.model_type));
  return {
    format: 'gguf',
    folder: viewFolder(folder, views),
    config,
    tensors: views.tensors,
    files,
    openTokenizer: () => openTokenizer(metadata),
    chat: ggufChatSource(metadata),
    family: ggufFamily(family, located, meta),
    describedBy: `the metadata of ${files[0]}`,
    nameOf: (name) => ggufName(architecture, name),
  };
}

/** @param {Folder} folder @param {string} file */
async function readHeader(folder, file) {
  const size = await folder.size(file, true);
  if (size === null) throw fail(file, 'there is no such file', file);
  return readGgufHeader(`${CALLER}: ${file}`, size, (begin, end) => folder.read(file, begin, end));
}

/**
 * Returns the tensors of all parts, by name.
 * @param {string[]} files
 * @param {GgufHeader[]} headers
 */
function mergeParts(files, headers) {
  /** @type {Map<string, Located>} */
  const located = new Map();
  for (const [i, { metadata, tensors }] of headers.entries()) {
    checkPart(files, i, metadata);
    for (const [name, range] of tensors) {
      const other = located.get(name);
      if (other) throw fail(files[i], `${quote(name)} is in ${quote(other.file)} too`, name);
      located.set(name, { ...range, name, file: files[i] });
    }
  }
  const expected = headers[0].metadata['split.tensors.count'];
  if (expected !== undefined && files.length > 1 && Number(expected) !== located.size) {
    const text = `split.tensors.count is ${quote(expected)}, but the parts have ${located.size} tensors`;
    throw fail(files[0], text, 'split.tensors.count', { expected, got: located.size });
  }
  return located;
}

/** @param {string[]} files @param {number} i @param {GgufHeader['metadata']} metadata */
function checkPart(files, i, metadata) {
  const { 'split.no': number = 0, 'split.count': count = 1 } = metadata;
  const wrong = (/** @type {string} */ key, /** @type {unknown} */ got, /** @type {number} */ expected) =>
    fail(files[i], `metadata ${key} is ${quote(got)}, expected ${expected} by the name of the file`, key, {
      expected,
      got,
    });
  // A file that was not split may have the split.count 0.
  if (Number(count) !== files.length && !(files.length === 1 && Number(count) === 0))
    throw wrong('split.count', count, files.length);
  if (Number(number) !== i) throw wrong('split.no', number, i);
}

/** Reads the numbers of a small tensor. @param {Folder} folder @param {Located | undefined} tensor */
async function readNumbers(folder, tensor) {
  if (!tensor) return undefined;
  const { file, name, shape, begin, end } = tensor;
  const caller = `${CALLER}: ${file}`;
  const type = typeOf(caller, name, tensor);
  if (elementCount(shape) > MAX_FACTORS)
    throw fail(file, `${quote(name)} is ${formatShape(shape)}, expected at most ${MAX_FACTORS} numbers`, name);
  const bytes = await folder.read(file, begin, end);
  if (bytes.length !== end - begin)
    throw fail(file, `the file ends within tensor ${quote(name)}: it is truncated`, name);
  return [...dequantize(caller, bytes, type)];
}

/**
 * Opens the tokenizer that the metadata describes. A model with a tokenizer of an unknown kind opens without it.
 * @param {GgufHeader['metadata']} metadata
 * @returns {ReturnType<Container['openTokenizer']>}
 */
async function openTokenizer(metadata) {
  const { openGgufTokenizer, whyUnknown } = await import('../../text/ggufTokenizer.js');
  const entries = Object.entries(metadata).filter(([key]) => key.startsWith('tokenizer.ggml.'));
  const keys = Object.fromEntries(entries);
  const missing = whyUnknown(metadata);
  if (missing) return { missing, keys };
  const tokenizer = openGgufTokenizer(metadata);
  return tokenizer && { tokenizer, keys };
}
