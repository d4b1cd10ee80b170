// What a transformer is given: read once, into labels, pictures or sounds with their sizes.

import { readOptions } from '../check/arguments.js';
import { argumentError, HeadlightError, shapeError } from '../check/errors.js';
import { readNumbers, toLabels } from '../ops/labels.js';

/** @import { TensorLike } from '../check/tensorlike.js' */
/** @import { Resolved } from './options.js' */

/**
 * @typedef {string | TensorLike | { ids: TensorLike, keep?: TensorLike, typeIds?: TensorLike, positions?: TensorLike }
 *   | { pixels: TensorLike } | { features: TensorLike }} PlainInput labels (T) or (B,T); keep (B,T): 1 = a real token;
 *   pixels (B,3,H,W); features (B,C,N)
 */
/**
 * @typedef {PlainInput | { encoder: PlainInput, ids: TensorLike, keep?: TensorLike, positions?: TensorLike }}
 *   ModelInput
 */
/**
 * labels, or numbers where there are none.
 * @typedef {object} ReadInput
 * @property {string} called what the caller calls it
 * @property {boolean} batched
 * @property {number} batch
 * @property {number} rows tokens, patches or frames as given
 * @property {Int32Array} [labels]
 * @property {Uint8Array} [keep]
 * @property {Int32Array} [typeIds]
 * @property {Int32Array} [positions]
 * @property {{ data: ArrayLike<number>, shape: readonly number[] }} [numbers]
 * @property {ReadInput} [encoder]
 */

const FORMS = ['ids', 'keep', 'typeIds', 'positions', 'pixels', 'features', 'encoder'];
const MOST = 2 ** 31 - 1;
const KINDS = /** @type {const} */ ({ tokens: 'ids', patches: 'pixels', audio: 'features' });

/** @param {unknown} input @returns {input is Record<string, unknown>} */
const isNamed = (input) =>
  typeof input === 'object' &&
  input !== null &&
  ['ids', 'pixels', 'features', 'encoder'].some((name) => Object.hasOwn(input, name));

/**
 * @param {string} caller
 * @param {Resolved} options
 * @param {ModelInput} input
 * @param {(text: string) => { ids: readonly number[], typeIds: readonly number[] }} encode
 * @param {boolean} [encoded] the cache holds what the encoder has made
 * @returns {ReadInput}
 */
export function readInput(caller, options, input, encode, encoded = false) {
  if (typeof input === 'string') {
    if (options.encoder) throw argumentError(caller, 'input', input, '{ encoder, ids }: this model has an encoder');
    const { ids, typeIds } = encode(input);
    return readInput(
      caller,
      options,
      { ids: [...ids], ...(options.tokenTypes > 0 && { typeIds: [...typeIds] }) },
      encode,
    );
  }
  const named = isNamed(input);
  const given = named ? readOptions(caller, /** @type {any} */ (input), FORMS) : { ids: input };
  if (options.encoder && given.encoder === undefined && !encoded)
    throw argumentError(caller, 'input', input, '{ encoder, ids }: this model has an encoder');
  if (!options.encoder && given.encoder !== undefined)
    throw argumentError(caller, 'encoder', given.encoder, 'none: this model has no encoder');
  const kind = KINDS[options.input];
  if (given[kind] === undefined) throw argumentError(caller, kind, given[kind], `what this model reads: { ${kind} }`);
  if (kind !== 'ids') return readArrays(caller, kind, given[kind], options);
  const encoder = options.encoder && !encoded ? readInput(caller, options.encoder, given.encoder, encode) : undefined;
  return { ...readLabels(caller, given, options, named ? 'ids' : 'labels'), encoder };
}

/**
 * @param {string} caller
 * @param {any} given
 * @param {Resolved} options
 * @param {string} called what the caller calls them
 * @returns {ReadInput}
 */
function readLabels(caller, given, { vocab, tokenTypes, context }, called) {
  const { ints: labels, shape } = toLabels(readNumbers(given.ids, caller, called), caller, vocab, undefined, called);
  if (shape.length !== 1 && shape.length !== 2) throw shapeError(caller, called, shape, '(T) or (B,T)');
  const batched = shape.length === 2;
  const [batch, rows] = batched ? shape : [1, shape[0]];
  /** @param {string} name @param {number} below */
  const beside = (name, below) => {
    if (given[name] === undefined) return undefined;
    const read = toLabels(readNumbers(given[name], caller, name), caller, below, undefined, name);
    if (read.ints.length !== labels.length)
      throw shapeError(caller, name, read.shape, `as many as ids: ${batched ? `(${batch},${rows})` : `(${rows})`}`);
    return read.ints;
  };
  if (given.typeIds !== undefined && tokenTypes === 0)
    throw argumentError(caller, 'typeIds', given.typeIds, 'none: this model has no token types');
  const keep = beside('keep', 2);
  return {
    called,
    batched,
    batch,
    rows,
    labels,
    keep: keep && Uint8Array.from(keep),
    typeIds: beside('typeIds', tokenTypes),
    positions: beside('positions', Math.min(context, MOST)),
  };
}

/** @param {string} caller @param {string} kind @param {unknown} value @param {Resolved} options @returns {ReadInput} */
function readArrays(caller, kind, value, { patch, channels, context }) {
  const source = readNumbers(/** @type {TensorLike} */ (value), caller, kind);
  const [data, shape] = [source.floats(), source.shape];
  if (patch) {
    const expected = [patch.channels, ...patch.image];
    if (shape.length !== 4 || expected.some((n, i) => shape[i + 1] !== n))
      throw shapeError(caller, kind, shape, `(B,${expected.join(',')})`);
    const rows = expected.slice(1).reduce((count, side) => count * Math.floor(side / patch.size), 1);
    return { called: kind, batched: true, batch: shape[0], rows, numbers: { data, shape } };
  }
  if (shape.length !== 3 || shape[1] !== channels || shape[2] !== 2 * context)
    throw shapeError(caller, kind, shape, `(B,${channels},${2 * context})`);
  return { called: kind, batched: true, batch: shape[0], rows: context, numbers: { data, shape } };
}

/** @param {string} caller */
export const noTokenizer = (caller) =>
  new HeadlightError('STATE', `${caller}: text is given, but this model has no tokenizer; set model.tokenizer`, {
    parameter: 'input',
  });
