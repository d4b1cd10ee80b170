// Reads the letters that a speech model writes, from vocab.json and its neighbours.

import { HeadlightError } from '../../../check/errors.ts';
import { quote } from '../../../check/quote.ts';
import { Letters } from '../../../text/letters.ts';
import type { Config } from '../../families/common.ts';
import type { Folder } from '../files.ts';
import { readInner } from './innerFiles.ts';

const fail = (name: string, reason: string) =>
  new HeadlightError('FORMAT', `openModel: ${name}: ${reason}`, { parameter: name });

/** Returns undefined if there is no vocab.json. */
export async function openLetters(folder: Folder, config: Config) {
  const vocab = await readInner(folder, 'vocab.json');
  if (vocab === undefined) return undefined;
  const settings = {
    ...(await readInner(folder, 'special_tokens_map.json')),
    ...(await readInner(folder, 'tokenizer_config.json')),
  };
  const all = { ...readIds('vocab.json', vocab), ...readIds('added_tokens.json', await readAdded(folder)) };
  const ids = new Map(Object.entries(all));
  const tokenIn = (field: string) => {
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

const readAdded = async (folder: Folder) => (await readInner(folder, 'added_tokens.json')) ?? {};

function readIds(name: string, given: unknown): Record<string, number> {
  if (typeof given !== 'object' || given === null) throw fail(name, 'a JSON object is expected');
  for (const [letter, id] of Object.entries(given))
    if (!Number.isSafeInteger(id) || id < 0)
      throw fail(name, `${quote(letter)} is ${quote(id)}, expected the id of a letter`);
  return given as Record<string, number>;
}
