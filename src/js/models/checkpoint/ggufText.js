// Converts the tokenizer and the chat templates of a model to metadata of a GGUF file.

import { HeadlightError } from '../../check/errors.js';
import { quote } from '../../check/quote.js';
import { openGgufTokenizer } from '../../text/ggufTokenizer.js';
import { ggufVocabulary } from '../../text/ggufVocabulary.js';
import { openTokenizer } from '../../text/tokenizer.js';
import { string } from './ggufKeys.js';

/** @import { Kind, Value } from '../../io/ggufWriter.js' */
/** @import { Transformer } from '../transformer.js' */

const CALLER = 'saveGguf';
const PREFIX = 'tokenizer.ggml.';
const CHAT = 'tokenizer.chat_template';
/** Lists whose kind does not follow from their values. @type {Record<string, Kind>} */
const LISTS = {
  [`${PREFIX}scores`]: 'f32',
  [`${PREFIX}token_type`]: 'i32',
  [`${PREFIX}precompiled_charsmap`]: 'u8',
};

/** @param {unknown} value @returns {Kind} */
function kindOf(value) {
  if (typeof value === 'string') return 'string';
  if (typeof value === 'boolean') return 'bool';
  return Number.isInteger(value) ? (Number(value) < 0 ? 'i32' : 'u32') : 'f32';
}

/** @param {string} key @param {unknown} value @returns {Value} */
function typed(key, value) {
  const kind = LISTS[key] ?? kindOf(Array.isArray(value) ? (value[0] ?? '') : value);
  return { kind, value: /** @type {Value['value']} */ (value) };
}

/** @param {Transformer} model @returns {Record<string, Value>} */
function chatKeys({ chatTemplates }) {
  const { default: main, tool_use: tools } = chatTemplates?.templates ?? {};
  return {
    ...(main !== undefined && { [CHAT]: string(main) }),
    ...(tools !== undefined && { [`${CHAT}.tool_use`]: string(tools) }),
  };
}

/** @param {unknown} id */
const isId = (id) => Number.isInteger(id);

/**
 * Returns the metadata entries for a tokenizer.json. A tokenizer that is opened from them must return the same ids.
 * @param {Transformer} model
 * @param {Uint8Array} file
 * @returns {Record<string, Value>}
 */
function fromFile({ options, generation, config = {} }, file) {
  const original = openTokenizer(file);
  const eos = generation.stop ?? [config.eos_token_id].flat().filter(isId);
  const [bos, pad] = [config.bos_token_id, config.pad_token_id].map((id) => (isId(id) ? id : undefined));
  const json = JSON.parse(new TextDecoder().decode(file));
  const { keys, probes } = ggufVocabulary(json, { vocab: options.vocab, bos, eos, pad });
  const named = Object.fromEntries(Object.entries(keys).map(([key, value]) => [PREFIX + key, value]));
  const again = openGgufTokenizer(Object.fromEntries(Object.entries(named).map(([key, { value }]) => [key, value])));
  for (const text of again ? probes : []) {
    const [a, b] = [original, /** @type {typeof original} */ (again)].map((one) => one.encode(text).ids);
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

/**
 * @param {Transformer} model
 * @param {Uint8Array | null | undefined} given tokenizer.json; null: no tokenizer; undefined: the tokenizer of the
 *   model
 * @returns {Record<string, Value>}
 */
export function textKeys(model, given) {
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
