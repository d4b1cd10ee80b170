// Reads small files of a checkpoint that only some models have, maybe in subfolders.

import { HeadlightError } from '../../../check/errors.ts';
import { parseJson } from '../../../io/json.ts';

import type { Folder } from '../files.ts';

const MAX_BYTES = 16 * 2 ** 20;

/** Returns a file as JSON or as text, or undefined if there is none. */
export async function readInner(folder: Folder, path: string, form: 'json' | 'text' = 'json'): Promise<any> {
  const bytes = await folder.readInner?.(path, MAX_BYTES);
  if (!bytes) return undefined;
  // A copy, because TextDecoder refuses shared memory.
  const text = new TextDecoder().decode(bytes.slice());
  if (form === 'text') return text;
  const fail = (reason: string) =>
    new HeadlightError('FORMAT', `openModel: ${path} is not JSON as expected: ${reason}`, { parameter: path });
  return parseJson(text, fail);
}
