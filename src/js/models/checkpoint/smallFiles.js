// Reads small files of a checkpoint as a whole: JSON and tokenizers.

import { HeadlightError } from '../../check/errors.js';
import { quoteNames } from '../../check/quote.js';
import { parseJson } from '../../io/json.js';
import { readInner } from './innerFiles.js';

/** @import { FixedLength } from '../../text/fixedLength.js' */
/** @import { Tokenizer } from '../../text/tokenizer.js' */
/** @import { Config } from '../families/common.js' */
/** @import { Folder } from './files.js' */

const MAX_BYTES = 64 * 2 ** 20;
const CALLER = 'openModel';

/** @param {string} message @param {string} parameter */
const fail = (message, parameter) => new HeadlightError('FORMAT', `${CALLER}: ${message}`, { parameter });

/** @param {Folder} folder @param {string} name @param {number} size */
export async function readAll(folder, name, size) {
  const known = size < Infinity;
  const bytes = known && size > MAX_BYTES ? null : await folder.read(name, 0, Math.min(size, MAX_BYTES + 1));
  if (bytes && bytes.length <= MAX_BYTES) return bytes;
  const count = known ? size : `more than ${MAX_BYTES}`;
  throw fail(`${name} has ${count} bytes, expected at most ${MAX_BYTES}`, name);
}

/** @param {Folder} folder @param {string} name @returns {Promise<Config>} */
export async function readJson(folder, name) {
  const size = await folder.size(name, true);
  if (size === null) {
    const present = folder.names ? `; there are ${quoteNames([...folder.names])}` : '';
    throw fail(`there is no ${name}${present}${folder.hint ?? ''}`, name);
  }
  // A copy, because TextDecoder refuses shared memory.
  const text = new TextDecoder().decode((await readAll(folder, name, size)).slice());
  const value = parseJson(text, (reason) => fail(`${name} is not JSON as expected: ${reason}`, name));
  if (value === null || typeof value !== 'object' || Array.isArray(value))
    throw fail(`${name} is expected to be a JSON object`, name);
  return value;
}

/** Reads generation_config.json, if there is one. @param {Folder} folder */
export async function readGenerationJson(folder) {
  const name = 'generation_config.json';
  return (await folder.size(name)) === null ? undefined : readJson(folder, name);
}

/**
 * Opens the tokenizer of tokenizer.json, if there is one, by the settings of tokenizer_config.json. Returns it with the
 * bytes of a tokenizer.json that contains these settings.
 * @param {Folder} folder
 * @param {unknown} modelType model_type of config.json
 * @param {FixedLength} [fixed]
 * @returns {Promise<{ tokenizer: Tokenizer, file: Uint8Array } | undefined>}
 */
export async function openTokenizerJson(folder, modelType, fixed) {
  const size = await folder.size('tokenizer.json');
  if (size === null) return undefined;
  const { openTokenizer, parseTokenizer } = await import('../../text/tokenizer.js');
  const bytes = await readAll(folder, 'tokenizer.json', size);
  const settings = await readInner(folder, 'tokenizer_config.json');
  const file = settings && typeof settings === 'object' ? parseTokenizer(bytes) : undefined;
  if (!(file instanceof Map)) return { tokenizer: openTokenizer(bytes, fixed), file: bytes };
  const { applySettings, plain } = await import('../../text/tokenizerConfig.js');
  const changed = applySettings(file, settings, modelType);
  const tokenizer = openTokenizer(file, fixed);
  return { tokenizer, file: changed ? new TextEncoder().encode(JSON.stringify(plain(file))) : bytes };
}
