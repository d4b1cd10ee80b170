// Encodes one text or two texts as the input of one run.

import { argumentError } from '../../check/errors.js';
import { readNumbers, toLabels } from '../../ops/labels.js';
import { readNamed } from '../input.js';

/** @import { ModelInput } from '../input.js' */
/** @import { Classifiable } from './classify.js' */
/** @import { Transformer } from '../transformer.js' */

/** @param {unknown} input @returns {input is { text: string, pair: string }} */
const isPair = (input) => typeof input === 'object' && input !== null && 'pair' in input;

/** @param {Transformer} model @param {string} caller @param {Classifiable} input @returns {ModelInput} */
export function readPair(model, caller, input) {
  const read = isPair(input) ? encodePair(model, caller, input) : input;
  return model.options.encoder ? withDecoder(model, caller, read) : read;
}

/**
 * Returns the input of an encoder–decoder that classifies. The decoder reads the same tokens as the encoder, after a
 * start token and without the last one, so that its last token is in the place of the end token.
 * @param {Transformer} model
 * @param {string} caller
 * @param {ModelInput} input
 * @returns {ModelInput}
 */
function withDecoder(model, caller, input) {
  const { given, called } = readNamed(
    caller,
    typeof input === 'string' ? { ids: [...model.encode(input).ids] } : input,
  );
  if (given.encoder !== undefined) return input;
  const name = called.ids ?? 'ids';
  const { ints } = toLabels(readNumbers(given.ids, caller, name), caller, model.options.vocab, undefined, name);
  const { eos_token_id: end = 2, decoder_start_token_id: start = 2 } = model.config ?? {};
  if (ints.at(-1) !== end) throw argumentError(caller, name, given.ids, `tokens of which the last is ${end}`);
  return { encoder: { ids: [...ints] }, ids: [start, ...ints.subarray(0, -1)] };
}

/** @param {Transformer} model @param {string} caller @param {{ text: string, pair: string }} input */
function encodePair(model, caller, input) {
  for (const name of /** @type {const} */ (['text', 'pair']))
    if (typeof input[name] !== 'string') throw argumentError(caller, name, input[name], 'a text');
  const { ids, typeIds } = model.encode(input.text, input.pair);
  return { ids, ...(model.options.tokenTypes > 0 && { typeIds }) };
}
