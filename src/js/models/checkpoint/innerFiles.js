// Reads small files of a checkpoint that only some models have. The files may be in subfolders.

import { HeadlightError } from '../../check/errors.js';
import { parseJson } from '../../io/json.js';

/** @import { Folder } from './files.js' */

const MAX_BYTES = 16 * 2 ** 20;

/**
 * Returns a file as JSON or as text, or undefined if there is none.
 * @param {Folder} folder
 * @param {string} path
 * @param {'json' | 'text'} [form]
 * @returns {Promise<any>}
 */
export async function readInner(folder, path, form = 'json') {
  const bytes = await folder.readInner?.(path, MAX_BYTES);
  if (!bytes) return undefined;
  // A copy, because TextDecoder refuses shared memory.
  const text = new TextDecoder().decode(bytes.slice());
  if (form === 'text') return text;
  const fail = (/** @type {string} */ reason) =>
    new HeadlightError('FORMAT', `openModel: ${path} is not JSON as expected: ${reason}`, { parameter: path });
  return parseJson(text, fail);
}
