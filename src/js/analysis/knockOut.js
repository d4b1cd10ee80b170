// Attention knock-out: makes edits that prevent a query from attending to a key.

import { checkOptions, readNumber, readWord } from '../check/arguments.js';
import { argumentError, HeadlightError } from '../check/errors.js';
import { quote } from '../check/quote.js';

/** @import { Edit } from '../models/edits.js' */
/** @import { AttentionPart } from './ablateHeads.js' */

/**
 * @typedef {object} KnockOutOptions
 * @property {number} length number of keys S, which is the number of tokens of the sequence, or of the encoder for
 *   cross-attention
 * @property {AttentionPart} [part] kind of attention, for a model with an encoder; default 'decoder'
 * @property {number | readonly number[]} [layers] default: all
 * @property {number | readonly number[]} [heads] default: all
 */

const CALLER = 'knockOut';
/**
 * First and last part of the names of scores. The number of the block is between them.
 * @type {Record<AttentionPart, [stack: 'blocks' | 'encoder.blocks', value: 'scores' | 'cross.scores']>}
 */
const AT = { encoder: ['encoder.blocks', 'scores'], decoder: ['blocks', 'scores'], cross: ['blocks', 'cross.scores'] };

/**
 * Makes edits for forward that set the attention weight of key s for query t to 0, for each pair [t, s] (Geva et al.
 * 2023, "Dissecting Recall of Factual Associations in Auto-Regressive Language Models"). The score becomes −∞ before
 * the softmax, so that the other weights of the row still sum to 1. A row without any visible key is 0. Keys that the
 * model masks stay masked.
 *
 * @param {readonly (readonly [number, number])[]} pairs
 * @param {KnockOutOptions} options
 * @returns {Edit[]} one for each layer and each query
 */
export function knockOut(pairs, options) {
  checkOptions(CALLER, options, ['length', 'part', 'layers', 'heads']);
  const part = readWord(
    CALLER,
    'part',
    options.part ?? 'decoder',
    /** @type {const} */ (['encoder', 'decoder', 'cross']),
  );
  const length = readNumber(CALLER, 'length', options.length, { integer: true, least: 1, most: 2 ** 24 });
  const layers = readList('layers', options.layers);
  const heads = readList('heads', options.heads);
  if (!Array.isArray(pairs)) throw argumentError(CALLER, 'pairs', pairs, 'a list of pairs [t, s]');
  /** Values (S) to add to the scores, by query. @type {Map<number, Float32Array>} */
  const hidden = new Map();
  pairs.forEach((pair, i) => {
    // In cross-attention the queries are tokens of the decoder, whose number is not known here.
    checkPair(pair, i, [part === 'cross' ? Infinity : length, length]);
    const [t, s] = pair;
    const row = hidden.get(t) ?? new Float32Array(length);
    row[s] = Number.NEGATIVE_INFINITY;
    hidden.set(t, row);
  });
  const [stack, name] = AT[part];
  return (layers ?? ['*']).flatMap((layer) =>
    [...hidden].map(([token, data]) => ({
      at: /** @type {Edit['at']} */ (`${stack}.${layer}.${name}`),
      ...(heads && { head: heads }),
      token,
      add: { data, shape: [length] },
    })),
  );
}

/** @param {unknown} pair @param {number} i @param {[queries: number, keys: number]} lengths */
function checkPair(pair, i, lengths) {
  const fail = (/** @type {string} */ name, /** @type {unknown} */ got, /** @type {string} */ expected) =>
    new HeadlightError('ARGUMENT', `${CALLER}: ${name} is ${quote(got)}, expected ${expected}`, {
      parameter: 'pairs',
      expected,
      got,
    });
  if (!Array.isArray(pair) || pair.length !== 2)
    throw fail(`pairs[${i}]`, pair, '[t, s]: the positions of a query and a key');
  for (const [axis, position] of pair.entries())
    if (!(Number.isInteger(position) && position >= 0 && position < lengths[axis]))
      throw fail(`pairs[${i}][${axis}]`, position, `a position from 0 to ${lengths[axis] - 1}`);
}

/** @param {string} name @param {number | readonly number[] | undefined} value */
function readList(name, value) {
  if (value === undefined) return undefined;
  const list = Array.isArray(value) ? value : [value];
  return list.map((n) => readNumber(CALLER, name, n, { integer: true, least: 0, most: 2 ** 20 }));
}
