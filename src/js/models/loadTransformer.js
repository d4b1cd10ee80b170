// Loads a transformer from a file that save() has written.

import { checkNames, readRecord } from '../check/arguments.js';
import { HeadlightError, shapeError } from '../check/errors.js';
import { quoteNames } from '../check/quote.js';
import { formatShape, sameShape } from '../check/shape.js';
import { parseJson } from '../io/json.js';
import { areRounded, widenRows } from '../io/roundedRows.js';
import { readSafetensors, readSafetensorsHeader } from '../io/safetensors.js';
import { resolveOptions } from './options.js';
import { parameterShapes } from './parameters.js';
import { Transformer } from './transformer.js';
import { allocateWeights } from './weights.js';

/** @import { TensorLike } from '../check/tensorlike.js' */
/** @import { Memory } from '../memory/memory.js' */
/** @import { StateEntry } from '../ops/state.js' */
/** @import { Resolved, TransformerOptions } from './options.js' */

/**
 * @typedef {{ tensors: Record<string, TensorLike & StateEntry>, metadata: Record<string, string> }} SavedTransformer
 */

const CALLER = 'loadTransformer';
/** Maximum number of missing names that an error lists. */
const MAX_MISSING = 8;

/**
 * Returns the options that save() has written.
 * @param {Record<string, string>} metadata
 * @returns {TransformerOptions}
 */
function readSavedOptions({ headlight }) {
  const fail = (/** @type {string} */ reason) =>
    new HeadlightError('FORMAT', `${CALLER}: cannot read the options of the transformer from the file: ${reason}`, {
      parameter: 'headlight',
      got: headlight,
    });
  if (headlight === undefined) throw fail('no "headlight" in its metadata');
  return /** @type {TransformerOptions} */ (
    parseJson(headlight, (reason) => fail(`"headlight" in its metadata is not JSON as expected: ${reason}`))
  );
}

/** @param {unknown} saved @returns {saved is SavedTransformer} */
const isParsed = (saved) => typeof saved === 'object' && saved !== null && 'tensors' in saved && 'metadata' in saved;

/**
 * Refuses tensors that are missing, unknown or have another shape than the options require.
 * @param {Resolved} options
 * @param {Record<string, { shape: readonly number[] }>} tensors
 */
function checkTensors(options, tensors) {
  const got = Object.keys(tensors);
  /** @type {string[]} */
  const expected = [];
  for (const [name, shape] of parameterShapes(options)) {
    expected.push(name);
    const tensor = tensors[name];
    if (Array.isArray(tensor?.shape) && !sameShape(tensor.shape, shape))
      throw shapeError(CALLER, name, tensor.shape, formatShape(shape));
    // The options may specify a million layers, so the loop ends after the first missing names.
    if (expected.length > got.length + MAX_MISSING) {
      const missing = expected.filter((other) => !(other in tensors)).slice(0, MAX_MISSING);
      const details = { parameter: missing[0], expected, got };
      throw new HeadlightError('ARGUMENT', `${CALLER}: missing ${quoteNames(missing)} and others`, details);
    }
  }
  checkNames(CALLER, got, expected);
}

/**
 * Loads a transformer. The options in the file determine how much memory is allocated, so they are first compared with
 * the tensors.
 * @param {Memory} memory
 * @param {ArrayBuffer | ArrayBufferView | SavedTransformer} saved
 * @returns {Transformer}
 */
export function loadTransformer(memory, saved) {
  const { tensors: ranges, metadata } = isParsed(saved) ? saved : readSafetensorsHeader(saved);
  readRecord(CALLER, 'tensors', ranges, 'an object of named tensors');
  readRecord(CALLER, 'metadata', metadata, 'an object of named texts');
  if (areRounded(ranges)) {
    const tensors = widenRows(isParsed(saved) ? ranges : readSafetensors(saved).tensors);
    return loadTransformer(memory, { tensors, metadata });
  }
  const options = resolveOptions(readSavedOptions(metadata));
  checkTensors(options, ranges);
  const step = Number(metadata['headlight.step'] ?? 0);
  const tensors = isParsed(saved) ? ranges : readSafetensors(saved).tensors;
  // The weights get no random initial values, because these would only be overwritten.
  const model = new Transformer(memory, options, allocateWeights(memory, options), step);
  try {
    return model.loadStateDict(/** @type {Record<string, StateEntry>} */ (tensors));
  } catch (error) {
    model.dispose();
    throw error;
  }
}
