// Encodes one text or two texts as the input of one run.

import { argumentError } from '../../check/errors.js';
import { rarePart } from '../rareParts.js';

/** @import { ModelInput } from '../input.js' */
/** @import { Classifiable } from './classify.js' */
/** @import { Transformer } from '../transformer.js' */

/** @param {unknown} input @returns {input is { text: string, pair: string }} */
const isPair = (input) => typeof input === 'object' && input !== null && 'pair' in input;

/** @param {Transformer} model @param {string} caller @param {Classifiable} input @returns {ModelInput} */
export function readPair(model, caller, input) {
  const read = isPair(input) ? encodePair(model, caller, input) : input;
  return model.options.encoder ? rarePart('shiftedInput', caller).withDecoder(model, caller, read) : read;
}

/** @param {Transformer} model @param {string} caller @param {{ text: string, pair: string }} input */
function encodePair(model, caller, input) {
  for (const name of /** @type {const} */ (['text', 'pair']))
    if (typeof input[name] !== 'string') throw argumentError(caller, name, input[name], 'a text');
  const { ids, typeIds } = model.encode(input.text, input.pair);
  return { ids, ...(model.options.tokenTypes > 0 && { typeIds }) };
}
