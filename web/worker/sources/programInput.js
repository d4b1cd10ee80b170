// Reads, checks and converts the input of a program that embeds the page. The input is a model, or attention weights,
// or queries, keys and values. Arrays may have any form that the module accepts.

import { argumentError, HeadlightError, shapeError } from '../../../src/js/check/errors.js';
import { readTensorLike } from '../../../src/js/check/tensorlike.js';

/** @import { HubOptions } from '../../../src/js/hub/options.js' */
/** @import { UserFile } from '../../store/protocol.js' */
/** @typedef {{ data: Float32Array, shape: number[] }} InputNumbers */
/** @typedef {{ layers: InputNumbers[], causal: boolean }} LayerWeights each (H,T,S) */
/** @typedef {'encoder' | 'decoder' | 'cross'} Part of an encoder–decoder */
/** @typedef {LayerWeights & { part: Part }} PartWeights */
/** @typedef {{ kind: 'weights' } & LayerWeights} WeightsInput */
/** @typedef {{ kind: 'weights', parts: PartWeights[] } & LayerWeights} PartsInput layers: those of the first part */
/** @typedef {{ kind: 'qkv', query: InputNumbers, key: InputNumbers, value: InputNumbers, causal: boolean }} QkvInput */
/** @typedef {{ kind: 'folder', url: string, hub?: HubOptions }} FolderInput */
/** @typedef {FolderInput | { kind: 'files', files: UserFile[] }} ModelFilesInput */
/**
 * The title, and the texts of the queries and keys, or of the source and target of an encoder–decoder.
 * @typedef {{ title?: string, tokens?: string[], keys?: string[], source?: string[], target?: string[] }} Texts
 */
/** @typedef {(WeightsInput | PartsInput | QkvInput | ModelFilesInput) & Texts} ProgramInput */

/** Maximum weight: 1, and a tolerance for the rounding of half precision. */
const MAX_WEIGHT = 1.02;
/** Maximum number of tokens that the page draws. */
const MAX_TOKENS = 4096;

const isNested = (/** @type {unknown} */ value) =>
  Array.isArray(value) || (ArrayBuffer.isView(value) && !(value instanceof DataView));

/**
 * @param {string} caller
 * @param {string} parameter
 * @param {unknown} value
 * @returns {InputNumbers}
 */
function numbersOf(caller, parameter, value) {
  const source = readTensorLike(value, caller, parameter);
  return { data: source.floats(), shape: [...source.shape] };
}

/**
 * Converts attention weights to layers of (H,T,S). The input is (T,S), (H,T,S), (L,H,T,S) or (L,B,H,T,S), or a list of
 * layers, each (T,S), (H,T,S) or (B,H,T,S).
 * @param {string} caller
 * @param {unknown} value
 * @param {{ batch?: number, parameter?: string }} [how]
 * @returns {WeightsInput}
 */
export function readWeights(caller, value, { batch, parameter = 'attentions' } = {}) {
  const list =
    Array.isArray(value) && value.length > 0 && !value.some((one) => typeof one === 'number' || isNested(one));
  if (Array.isArray(value) && value.length === 0) throw argumentError(caller, parameter, value, 'at least one layer');
  const layers = list
    ? value.flatMap((one, l) => {
        const name = `${parameter}[${l}]`;
        return layersIn(caller, name, numbersOf(caller, name, one), { batch, one: true });
      })
    : layersIn(caller, parameter, numbersOf(caller, parameter, value), { batch });
  const [first] = layers;
  layers.forEach(({ shape }, l) => {
    if (shape.join() === first.shape.join()) return;
    throw shapeError(caller, `${parameter}[${l}]`, shape, `(${first.shape.join(', ')}), as in the first layer`);
  });
  for (const { data } of layers) checkWeights(caller, parameter, data);
  return { kind: 'weights', layers, causal: layers.every(isCausal) };
}

export const PARTS = /** @type {const} */ (['encoder', 'decoder', 'cross']);

/** Tells if an object has weights by part. @param {unknown} value @returns {value is Partial<Record<Part, unknown>>} */
export const isByPart = (value) =>
  value !== null && typeof value === 'object' && PARTS.some((part) => Object.hasOwn(value, part));

/**
 * Reads the attention weights of an encoder–decoder: of the encoder, the decoder, and the decoder's cross-attention.
 * @param {string} caller
 * @param {Partial<Record<Part, unknown>>} value
 * @param {{ batch?: number }} [how]
 * @returns {PartsInput}
 */
export function readParts(caller, value, { batch } = {}) {
  for (const name of Object.keys(value))
    if (!PARTS.includes(/** @type {Part} */ (name)))
      throw argumentError(
        caller,
        `attentions.${name}`,
        value[/** @type {Part} */ (name)],
        'no parts except encoder, decoder and cross',
      );
  const parts = PARTS.filter((part) => value[part] !== undefined).map((part) => ({
    ...readWeights(caller, value[part], { batch, parameter: `attentions.${part}` }),
    part,
    // Each token of the decoder may attend to the whole source.
    ...(part === 'cross' && { causal: false }),
  }));
  if (parts.length === 0) throw argumentError(caller, 'attentions', value, 'a field encoder, decoder or cross');
  const { source, target } = lengthsOf({ parts });
  for (const { part, layers } of parts) {
    const { shape } = layers[0];
    const [T, S] = [part === 'encoder' ? source : target, part === 'decoder' ? target : source];
    if (shape[1] !== T || shape[2] !== S)
      throw shapeError(caller, `attentions.${part}`, shape, `(H, ${T}, ${S}), to fit the other parts`);
  }
  const [{ layers, causal }] = parts;
  return { kind: 'weights', parts, layers, causal };
}

/** Returns the numbers of tokens of the encoder and the decoder. @param {Pick<PartsInput, 'parts'>} input */
export function lengthsOf({ parts }) {
  const shapeOf = (/** @type {Part} */ name) => parts.find(({ part }) => part === name)?.layers[0].shape;
  return {
    source: shapeOf('encoder')?.[1] ?? shapeOf('cross')?.[2],
    target: shapeOf('decoder')?.[1] ?? shapeOf('cross')?.[1],
  };
}

/**
 * @param {string} caller
 * @param {string} parameter
 * @param {InputNumbers} numbers
 * @param {{ batch?: number, one?: boolean }} how one: the numbers are the weights of one layer
 * @returns {InputNumbers[]}
 */
function layersIn(caller, parameter, { data, shape }, { batch, one = false }) {
  const forms = one ? '(T,S), (H,T,S) or (B,H,T,S)' : '(T,S), (H,T,S), (L,H,T,S) or (L,B,H,T,S)';
  if (shape.length < 2 || shape.length > (one ? 4 : 5) || shape.includes(0))
    throw shapeError(caller, parameter, shape, forms);
  const [T, S] = shape.slice(-2);
  if (Math.max(T, S) > MAX_TOKENS) throw shapeError(caller, parameter, shape, `at most ${MAX_TOKENS} tokens`);
  const H = shape.length > 2 ? /** @type {number} */ (shape.at(-3)) : 1;
  const B = one ? (shape.length === 4 ? shape[0] : 1) : shape.length === 5 ? shape[1] : 1;
  const L = one || shape.length < 4 ? 1 : shape[0];
  if (B > 1 && batch === undefined)
    throw argumentError(caller, 'batch', batch, `an integer below ${B}, because ${parameter} has ${B} texts`);
  if (batch !== undefined && !(Number.isInteger(batch) && batch >= 0 && batch < B))
    throw argumentError(caller, 'batch', batch, B > 1 ? `an integer from 0 to ${B - 1}` : '0, the only text');
  const size = H * T * S;
  return Array.from({ length: L }, (_, l) => {
    const start = (l * B + (batch ?? 0)) * size;
    return { data: data.subarray(start, start + size), shape: [H, T, S] };
  });
}

/** @param {string} caller @param {string} parameter @param {Float32Array} data */
function checkWeights(caller, parameter, data) {
  for (let i = 0; i < data.length; i++)
    if (data[i] < 0 || data[i] > MAX_WEIGHT)
      throw argumentError(caller, parameter, data[i], 'weights, which are numbers from 0 to 1 whose rows sum to 1');
}

/** Returns true if no query attends to a later key. @param {InputNumbers} layer */
function isCausal({ data, shape: [H, T, S] }) {
  if (T !== S || T < 2) return false;
  for (let row = 0; row < H * T; row++) {
    const t = row % T;
    for (let s = t + 1; s < S; s++) if (data[row * S + s] > 0) return false;
  }
  return true;
}

/** Returns the shape with all leading axes joined to one. @param {InputNumbers} numbers @returns {number[]} H, T, D */
function headsIn({ shape }) {
  const [T, D] = shape.slice(-2);
  return [shape.slice(0, -2).reduce((a, b) => a * b, 1), T, D];
}

/**
 * Reads queries (H,T,D), keys (H,S,D) and values (H,S,Dv). Also accepts the shapes (T,D) for one head and (1,H,T,D).
 * @param {string} caller
 * @param {{ q: unknown, k: unknown, v: unknown, causal?: boolean }} options
 * @returns {QkvInput}
 */
export function readQkv(caller, { q, k, v, causal = false }) {
  const read = (/** @type {string} */ name, /** @type {unknown} */ value) => {
    const numbers = numbersOf(caller, name, value);
    const { shape } = numbers;
    if (shape.length < 2 || shape.length > 4 || shape.includes(0) || (shape.length === 4 && shape[0] !== 1))
      throw shapeError(caller, name, shape, '(T,D), (H,T,D) or (1,H,T,D)');
    return { data: numbers.data, shape: headsIn(numbers) };
  };
  const [query, key, value] = [read('q', q), read('k', k), read('v', v)];
  const [H, , D] = query.shape;
  const [G, S, width] = key.shape;
  if (width !== D) throw shapeError(caller, 'k', key.shape, `(H, S, ${D}), as wide as q`);
  if (H % G !== 0) throw shapeError(caller, 'k', key.shape, `a number of heads that divides the ${H} heads of q`);
  if (value.shape[0] !== G || value.shape[1] !== S) throw shapeError(caller, 'v', value.shape, `(${G}, ${S}, D), as k`);
  return { kind: 'qkv', query, key, value, causal };
}

/** @param {object} value @returns {value is ArrayLike<File>} */
const isFileList = (value) => 'length' in value && typeof value.length === 'number';

/**
 * Reads a model, which is the address of a folder, a name on the Hub, or the files of a folder.
 * @param {string} caller
 * @param {unknown} model
 * @param {string} base of a relative address
 * @param {HubOptions} [hub]
 * @returns {ModelFilesInput}
 */
export function readModel(caller, model, base, hub) {
  if (hub !== undefined && (hub === null || typeof hub !== 'object'))
    throw argumentError(caller, 'hub', hub, 'options for the Hugging Face Hub: { token, endpoint, revision, file }');
  if (typeof model === 'string' || model instanceof URL) {
    if (/^hf:/i.test(String(model))) return { kind: 'folder', url: String(model), ...(hub && { hub }) };
    const url = URL.parse ? URL.parse(String(model), base) : new URL(String(model), base);
    if (url) return { kind: 'folder', url: url.href, ...(hub && { hub }) };
  }
  if (model !== null && typeof model === 'object') {
    /** @type {[string, unknown][]} */
    const entries = isFileList(model)
      ? Array.from(model, (file) => [file.webkitRelativePath || file.name, file])
      : Object.entries(model);
    const files = entries.map(([path, file]) => {
      if (file instanceof Blob) return { path, file };
      if (file instanceof ArrayBuffer || ArrayBuffer.isView(file))
        return { path, file: new Blob([/** @type {ArrayBuffer} */ (file)]) };
      throw argumentError(caller, `model[${JSON.stringify(path)}]`, file, 'a File, a Blob or bytes');
    });
    if (files.length > 0) return { kind: 'files', files };
  }
  throw argumentError(caller, 'model', model, "'whale', hf://owner/name, the URL of a folder, or files by name");
}

/**
 * @param {string} caller
 * @param {string} parameter
 * @param {unknown} value
 * @param {number} count
 * @returns {string[] | undefined}
 */
export function readTexts(caller, parameter, value, count) {
  if (value === undefined) return undefined;
  if (!Array.isArray(value)) throw argumentError(caller, parameter, value, `${count} texts`);
  value.forEach((text, i) => {
    if (typeof text !== 'string') throw argumentError(caller, `${parameter}[${i}]`, text, 'a text');
  });
  if (value.length === count) return value.map(plainToken);
  throw new HeadlightError('SHAPE', `${caller}: ${parameter} has ${value.length} texts, expected ${count}`, {
    parameter,
    expected: count,
    got: value.length,
  });
}

/** Removes the character for a space at the beginning of a token, as tokenizers write it. @param {string} token */
const plainToken = (token) => (/^[Ġ▁]./u.test(token) ? token.slice(1) : token);
