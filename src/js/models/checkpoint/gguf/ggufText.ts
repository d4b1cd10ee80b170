// Converts the tokenizer and the chat templates of a model to metadata of a GGUF file.

import { HeadlightError } from '../../../check/errors.ts';
import { quote } from '../../../check/quote.ts';
import type { Kind, Value } from '../../../io/ggufWriter.ts';
import { openGgufTokenizer } from '../../../text/gguf/ggufTokenizer.ts';
import { ggufVocabulary } from '../../../text/gguf/ggufVocabulary.ts';
import { openTokenizer } from '../../../text/tokenizer.ts';
import type { Transformer } from '../../transformer.ts';
import { string } from './ggufKeys.ts';

const CALLER = 'saveGguf';
const PREFIX = 'tokenizer.ggml.';
const CHAT = 'tokenizer.chat_template';
/** Lists whose kind does not follow from their values. */
const LISTS: Record<string, Kind> = {
  [`${PREFIX}scores`]: 'f32',
  [`${PREFIX}token_type`]: 'i32',
  [`${PREFIX}precompiled_charsmap`]: 'u8',
};

function kindOf(value: unknown): Kind {
  if (typeof value === 'string') return 'string';
  if (typeof value === 'boolean') return 'bool';
  return Number.isInteger(value) ? (Number(value) < 0 ? 'i32' : 'u32') : 'f32';
}

function typed(key: string, value: unknown): Value {
  const kind = LISTS[key] ?? kindOf(Array.isArray(value) ? (value[0] ?? '') : value);
  return { kind, value: value as Value['value'] };
}

function chatKeys({ chatTemplates }: Transformer): Record<string, Value> {
  const { default: main, tool_use: tools } = chatTemplates?.templates ?? {};
  return {
    ...(main !== undefined && { [CHAT]: string(main) }),
    ...(tools !== undefined && { [`${CHAT}.tool_use`]: string(tools) }),
  };
}

const isId = (id: unknown) => Number.isInteger(id);

/** Returns the metadata entries for a tokenizer.json. A tokenizer that is opened from them must return the same ids. */
function fromFile({ options, generation, config = {} }: Transformer, file: Uint8Array): Record<string, Value> {
  const original = openTokenizer(file);
  const eos = generation.stop ?? [config.eos_token_id].flat().filter(isId);
  const [bos, pad] = [config.bos_token_id, config.pad_token_id].map((id) => (isId(id) ? id : undefined));
  const json = JSON.parse(new TextDecoder().decode(file));
  const { keys, probes } = ggufVocabulary(json, { vocab: options.vocab, bos, eos, pad });
  const named = Object.fromEntries(Object.entries(keys).map(([key, value]) => [PREFIX + key, value]));
  const again = openGgufTokenizer(Object.fromEntries(Object.entries(named).map(([key, { value }]) => [key, value])));
  for (const text of again ? probes : []) {
    const [a, b] = [original, again as typeof original].map((one) => one.encode(text).ids);
    if (a.join() === b.join()) continue;
    const reason = `GGUF cannot hold this tokenizer, because the ids of ${quote(text)} would change`;
    throw new HeadlightError('ARGUMENT', `${CALLER}: ${reason}; tokenizer: null leaves it out`, {
      parameter: 'tokenizer',
      expected: a,
      got: b,
    });
  }
  return named;
}

/** given: tokenizer.json; null: no tokenizer; undefined: the tokenizer of the model */
export function textKeys(model: Transformer, given: Uint8Array | null | undefined): Record<string, Value> {
  const { tokenizerFile, tokenizerKeys } = model;
  const chat = chatKeys(model);
  if (given) return { ...fromFile(model, given), ...chat };
  if (given === undefined && tokenizerFile) return { ...fromFile(model, tokenizerFile), ...chat };
  if (given === undefined && tokenizerKeys)
    return {
      ...Object.fromEntries(Object.entries(tokenizerKeys).map(([key, value]) => [key, typed(key, value)])),
      ...chat,
    };
  return { [`${PREFIX}model`]: string('none') };
}
