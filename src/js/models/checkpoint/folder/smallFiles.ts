// Reads small files of a checkpoint as a whole: JSON and tokenizers.

import { HeadlightError } from '../../../check/errors.ts';
import { quoteNames } from '../../../check/quote.ts';
import { parseJson } from '../../../io/json.ts';
import type { FixedLength } from '../../../text/fixedLength.ts';
import type { Tokenizer } from '../../../text/tokenizer.ts';
import type { Config } from '../../families/common.ts';
import type { Folder } from '../files.ts';
import { readInner } from './innerFiles.ts';

const MAX_BYTES = 64 * 2 ** 20;
const CALLER = 'openModel';

const fail = (message: string, parameter: string) =>
  new HeadlightError('FORMAT', `${CALLER}: ${message}`, { parameter });

export async function readAll(folder: Folder, name: string, size: number) {
  const known = size < Infinity;
  const bytes = known && size > MAX_BYTES ? null : await folder.read(name, 0, Math.min(size, MAX_BYTES + 1));
  if (bytes && bytes.length <= MAX_BYTES) return bytes;
  const count = known ? size : `more than ${MAX_BYTES}`;
  throw fail(`${name} has ${count} bytes, expected at most ${MAX_BYTES}`, name);
}

export async function readJson(folder: Folder, name: string): Promise<Config> {
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

/** Reads generation_config.json, if there is one. */
export async function readGenerationJson(folder: Folder) {
  const name = 'generation_config.json';
  return (await folder.size(name)) === null ? undefined : readJson(folder, name);
}

/** Opens tokenizer.json by tokenizer_config.json. Also returns a tokenizer.json with these settings. */
export async function openTokenizerJson(
  folder: Folder,
  modelType: unknown,
  fixed?: FixedLength,
): Promise<{ tokenizer: Tokenizer; file: Uint8Array } | undefined> {
  const size = await folder.size('tokenizer.json');
  if (size === null) return undefined;
  const { openTokenizer, parseTokenizer } = await import('../../../text/tokenizer.ts');
  const bytes = await readAll(folder, 'tokenizer.json', size);
  const settings = await readInner(folder, 'tokenizer_config.json');
  const file = settings && typeof settings === 'object' ? parseTokenizer(bytes) : undefined;
  if (!(file instanceof Map)) return { tokenizer: openTokenizer(bytes, fixed), file: bytes };
  const { applySettings, plain } = await import('../../../text/tokenizerConfig.ts');
  const changed = applySettings(file, settings, modelType);
  const tokenizer = openTokenizer(file, fixed);
  return { tokenizer, file: changed ? new TextEncoder().encode(JSON.stringify(plain(file))) : bytes };
}
