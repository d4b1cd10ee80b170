// Reads the letters that a speech model writes, from vocab.json and the files next to it.

import { HeadlightError } from '../../check/errors.js';
import { quote } from '../../check/quote.js';
import { Letters } from '../../text/letters.js';
import { readInner } from './innerFiles.js';

/** @import { Config } from '../families/common.js' */
/** @import { Folder } from './files.js' */

/** @param {string} name @param {string} reason */
const fail = (name, reason) => new HeadlightError('FORMAT', `openModel: ${name}: ${reason}`, { parameter: name });

/**
 * Returns undefined if there is no vocab.json.
 * @param {Folder} folder
 * @param {Config} config
 */
export async function openLetters(folder, config) {
  const vocab = await readInner(folder, 'vocab.json');
  if (vocab === undefined) return undefined;
  const settings = {
    ...(await readInner(folder, 'special_tokens_map.json')),
    ...(await readInner(folder, 'tokenizer_config.json')),
  };
  const all = { ...readIds('vocab.json', vocab), ...readIds('added_tokens.json', await readAdded(folder)) };
  const ids = new Map(Object.entries(all));
  const tokenIn = (/** @type {string} */ field) => {
    const token = settings[field]?.content ?? settings[field];
    return typeof token === 'string' ? token : undefined;
  };
  const unknown = tokenIn('unk_token');
  return new Letters({
    ids,
    blank: ids.get(tokenIn('pad_token') ?? '<pad>') ?? config.pad_token_id ?? 0,
    delimiter: tokenIn('word_delimiter_token') ?? '|',
    unknown: unknown !== undefined && ids.has(unknown) ? unknown : undefined,
    upper: settings.do_lower_case === true,
  });
}

/** @param {Folder} folder */
const readAdded = async (folder) => (await readInner(folder, 'added_tokens.json')) ?? {};

/** @param {string} name @param {unknown} given @returns {Record<string, number>} */
function readIds(name, given) {
  if (typeof given !== 'object' || given === null) throw fail(name, 'a JSON object is expected');
  for (const [letter, id] of Object.entries(given))
    if (!Number.isSafeInteger(id) || id < 0)
      throw fail(name, `${quote(letter)} is ${quote(id)}, expected the id of a letter`);
  return /** @type {Record<string, number>} */ (given);
}
