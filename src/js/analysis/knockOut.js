// Attention knock-out: edits after which a query does not attend to a key.

import { checkOptions, readNumber } from '../check/arguments.js';
import { argumentError, HeadlightError } from '../check/errors.js';
import { quote } from '../check/quote.js';

/** @import { Edit } from '../models/edits.js' */

/**
 * @typedef {object} KnockOutOptions
 * @property {number} length number of keys, S: the tokens of the sequence
 * @property {number | readonly number[]} [layers] default: all
 * @property {number | readonly number[]} [heads] default: all
 */

const CALLER = 'knockOut';

/**
 * Edits for forward after which query t gives no weight to key s, for each pair [t, s] (Geva et al. 2023, "Dissecting
 * Recall of Factual Associations in Auto-Regressive Language Models"). The score becomes −∞ before the softmax, so the
 * other weights of the row still sum to 1; a row without any visible key is 0. Keys that the model hides stay hidden.
 *
 * @param {readonly (readonly [number, number])[]} pairs
 * @param {KnockOutOptions} options
 * @returns {Edit[]} one for each layer and each query
 */
export function knockOut(pairs, options) {
  checkOptions(CALLER, options, ['length', 'layers', 'heads']);
  const length = readNumber(CALLER, 'length', options.length, { integer: true, least: 1, most: 2 ** 24 });
  const layers = readList('layers', options.layers);
  const heads = readList('heads', options.heads);
  if (!Array.isArray(pairs)) throw argumentError(CALLER, 'pairs', pairs, 'a list of pairs [t, s]');
  /** (S) by query @type {Map<number, Float32Array>} */
  const hidden = new Map();
  pairs.forEach((pair, i) => {
    checkPair(pair, i, length);
    const [t, s] = pair;
    const row = hidden.get(t) ?? new Float32Array(length);
    row[s] = Number.NEGATIVE_INFINITY;
    hidden.set(t, row);
  });
  return (layers ?? ['*']).flatMap((layer) =>
    [...hidden].map(([token, data]) => ({
      at: `blocks.${layer}.scores`,
      ...(heads && { head: heads }),
      token,
      add: { data, shape: [length] },
    })),
  );
}

/** @param {unknown} pair @param {number} i @param {number} length */
function checkPair(pair, i, length) {
  const fail = (/** @type {string} */ name, /** @type {unknown} */ got, /** @type {string} */ expected) =>
    new HeadlightError('ARGUMENT', `${CALLER}: ${name} is ${quote(got)}, expected ${expected}`, {
      parameter: 'pairs',
      expected,
      got,
    });
  if (!Array.isArray(pair) || pair.length !== 2)
    throw fail(`pairs[${i}]`, pair, '[t, s]: the positions of a query and a key');
  for (const [axis, position] of pair.entries())
    if (!(Number.isInteger(position) && position >= 0 && position < length))
      throw fail(`pairs[${i}][${axis}]`, position, `a position from 0 to ${length - 1}`);
}

/** @param {string} name @param {number | readonly number[] | undefined} value */
function readList(name, value) {
  if (value === undefined) return undefined;
  const list = Array.isArray(value) ? value : [value];
  return list.map((n) => readNumber(CALLER, name, n, { integer: true, least: 0, most: 2 ** 20 }));
}
