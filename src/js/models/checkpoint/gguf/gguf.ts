// Opens a GGUF file, which may be split into parts. The tensors get the names of Hugging Face, for the tables of
// families.

import { HeadlightError } from '../../../check/errors.ts';
import { quote } from '../../../check/quote.ts';
import { elementCount, formatShape } from '../../../check/shape.ts';
import { type GgufHeader, readGgufHeader, typeOf } from '../../../io/gguf.ts';
import { dequantize } from '../../../io/ggufTypes.ts';
import type { Architecture, Family } from '../../families/common.ts';
import { FAMILIES } from '../../families/index.ts';
import type { Container } from '../containers.ts';
import type { Folder } from '../files.ts';
import { ggufChatSource } from '../folder/chatSource.ts';
import type { Storage } from '../readWeights.ts';
import { ModelMetadata, makeConfig, readHeads } from './ggufConfig.ts';
import { ggufFamily } from './ggufFamily.ts';
import { ARCHITECTURES, FREQUENCIES, ggufName } from './ggufNames.ts';
import { partNames } from './ggufParts.ts';
import { type Located, makeViews, viewFolder } from './ggufTensors.ts';

const CALLER = 'openModel';
/** Maximum number of factors of rotary frequencies, one for each pair of a head's elements. */
const MAX_FACTORS = 2 ** 16;

const fail = (file: string, message: string, parameter: string, details?: object) =>
  new HeadlightError('FORMAT', `${CALLER}: ${file}: ${message}`, { parameter, ...details });

/** file: any part; storage: 'stored' keeps blocks of a few bits, 'int4' only those of 4 bits */
export async function openGguf(folder: Folder, file: string, storage: Storage): Promise<Container> {
  const files = partNames(file);
  const first = await readHeader(folder, files[0]);
  const { metadata } = first;
  // Checked before other parts are requested, so that a name alone does not cause thousands of requests.
  checkPart(files, 0, metadata);
  const others = await Promise.all(files.slice(1).map((name) => readHeader(folder, name)));
  const located = mergeParts(files, [first, ...others]);
  const meta = new ModelMetadata(files[0], metadata);
  const [all, long, short] = await Promise.all(FREQUENCIES.map((name) => readNumbers(folder, located.get(name))));
  const config = makeConfig(meta, located, { all, long, short });
  const architecture = ARCHITECTURES.get(meta.architecture) as Architecture;
  const views = makeViews(architecture, readHeads(meta), located.values(), storage);
  const family = FAMILIES.get(config.model_type) as Family;
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

async function readHeader(folder: Folder, file: string) {
  const size = await folder.size(file, true);
  if (size === null) throw fail(file, 'there is no such file', file);
  return readGgufHeader(`${CALLER}: ${file}`, size, (begin, end) => folder.read(file, begin, end));
}

function mergeParts(files: string[], headers: GgufHeader[]) {
  const located: Map<string, Located> = new Map();
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

function checkPart(files: string[], i: number, metadata: GgufHeader['metadata']) {
  const { 'split.no': number = 0, 'split.count': count = 1 } = metadata;
  const wrong = (key: string, got: unknown, expected: number) =>
    fail(files[i], `metadata ${key} is ${quote(got)}, expected ${expected} by the name of the file`, key, {
      expected,
      got,
    });
  // A file that was not split may have the split.count 0.
  if (Number(count) !== files.length && !(files.length === 1 && Number(count) === 0))
    throw wrong('split.count', count, files.length);
  if (Number(number) !== i) throw wrong('split.no', number, i);
}

async function readNumbers(folder: Folder, tensor: Located | undefined) {
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

/** Opens the tokenizer that the metadata describes. A model with a tokenizer of an unknown kind opens without it. */
async function openTokenizer(metadata: GgufHeader['metadata']): ReturnType<Container['openTokenizer']> {
  const { openGgufTokenizer, whyUnknown } = await import('../../../text/gguf/ggufTokenizer.ts');
  const entries = Object.entries(metadata).filter(([key]) => key.startsWith('tokenizer.ggml.'));
  const keys = Object.fromEntries(entries);
  const missing = whyUnknown(metadata);
  if (missing) return { missing, keys };
  const tokenizer = openGgufTokenizer(metadata);
  return tokenizer && { tokenizer, keys };
}
