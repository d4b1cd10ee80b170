// Reads, checks and converts the input of a program that embeds the page. The input is a model, or attention weights,
// or queries, keys and values. Arrays may have any form that the module accepts.

import { argumentError, HeadlightError, shapeError } from '../../src/js/check/errors.ts';
import { readTensorLike } from '../../src/js/check/tensorlike.ts';
import type { HubOptions } from '../../src/js/hub/options.ts';

import type {
  InputNumbers,
  ModelFilesInput,
  Part,
  PartsInput,
  QkvInput,
  WeightsInput,
} from './protocol/programInput.ts';

/** Maximum weight: 1, and a tolerance for the rounding of half precision. */
const MAX_WEIGHT = 1.02;
/** Maximum number of tokens that the page draws. */
const MAX_TOKENS = 4096;

const isNested = (value: unknown) =>
  Array.isArray(value) || (ArrayBuffer.isView(value) && !(value instanceof DataView));

function numbersOf(caller: string, parameter: string, value: unknown): InputNumbers {
  const source = readTensorLike(value, caller, parameter);
  return { data: source.floats(), shape: [...source.shape] };
}

/** Converts weights to layers of (H,T,S), from (T,S) to (L,B,H,T,S) or a list by layer of (T,S) to (B,H,T,S). */
export function readWeights(
  caller: string,
  value: unknown,
  { batch, parameter = 'attentions' }: { batch?: number; parameter?: string } = {},
): WeightsInput {
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

export const PARTS = ['encoder', 'decoder', 'cross'] as const;

export const isByPart = (value: unknown): value is Partial<Record<Part, unknown>> =>
  value !== null && typeof value === 'object' && PARTS.some((part) => Object.hasOwn(value, part));

/**
 * Reads the attention weights of an encoder–decoder: of the encoder, the decoder, and the decoder's cross-attention.
 */
export function readParts(
  caller: string,
  value: Partial<Record<Part, unknown>>,
  { batch }: { batch?: number } = {},
): PartsInput {
  for (const name of Object.keys(value))
    if (!PARTS.includes(name as Part))
      throw argumentError(
        caller,
        `attentions.${name}`,
        value[name as Part],
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

/** Returns the numbers of tokens of the encoder and the decoder. */
export function lengthsOf({ parts }: Pick<PartsInput, 'parts'>) {
  const shapeOf = (name: Part) => parts.find(({ part }) => part === name)?.layers[0].shape;
  return {
    source: shapeOf('encoder')?.[1] ?? shapeOf('cross')?.[2],
    target: shapeOf('decoder')?.[1] ?? shapeOf('cross')?.[1],
  };
}

/** `one`: the numbers are the weights of one layer. */
function layersIn(
  caller: string,
  parameter: string,
  { data, shape }: InputNumbers,
  { batch, one = false }: { batch?: number; one?: boolean },
): InputNumbers[] {
  const forms = one ? '(T,S), (H,T,S) or (B,H,T,S)' : '(T,S), (H,T,S), (L,H,T,S) or (L,B,H,T,S)';
  if (shape.length < 2 || shape.length > (one ? 4 : 5) || shape.includes(0))
    throw shapeError(caller, parameter, shape, forms);
  const [T, S] = shape.slice(-2);
  if (Math.max(T, S) > MAX_TOKENS) throw shapeError(caller, parameter, shape, `at most ${MAX_TOKENS} tokens`);
  const H = shape.length > 2 ? (shape.at(-3) as number) : 1;
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

function checkWeights(caller: string, parameter: string, data: Float32Array) {
  for (let i = 0; i < data.length; i++)
    if (data[i] < 0 || data[i] > MAX_WEIGHT)
      throw argumentError(caller, parameter, data[i], 'weights, which are numbers from 0 to 1 whose rows sum to 1');
}

function isCausal({ data, shape: [H, T, S] }: InputNumbers) {
  if (T !== S || T < 2) return false;
  for (let row = 0; row < H * T; row++) {
    const t = row % T;
    for (let s = t + 1; s < S; s++) if (data[row * S + s] > 0) return false;
  }
  return true;
}

/** Returns the shape as H, T, D, with all leading axes joined. */
function headsIn({ shape }: InputNumbers): number[] {
  const [T, D] = shape.slice(-2);
  return [shape.slice(0, -2).reduce((a, b) => a * b, 1), T, D];
}

/**
 * Reads queries (H,T,D), keys (H,S,D) and values (H,S,Dv). Also accepts the shapes (T,D) for one head and (1,H,T,D).
 */
export function readQkv(
  caller: string,
  { q, k, v, causal = false }: { q: unknown; k: unknown; v: unknown; causal?: boolean },
): QkvInput {
  const read = (name: string, value: unknown) => {
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

const isFileList = (value: object): value is ArrayLike<File> => 'length' in value && typeof value.length === 'number';

/** Reads a model: the address of a folder, a name on the Hub, or a folder's files. `base`: of a relative address. */
export function readModel(caller: string, model: unknown, base: string, hub?: HubOptions): ModelFilesInput {
  if (hub !== undefined && (hub === null || typeof hub !== 'object'))
    throw argumentError(caller, 'hub', hub, 'options for the Hugging Face Hub: { token, endpoint, revision, file }');
  if (typeof model === 'string' || model instanceof URL) {
    if (/^hf:/i.test(String(model))) return { kind: 'folder', url: String(model), ...(hub && { hub }) };
    const url = URL.parse ? URL.parse(String(model), base) : new URL(String(model), base);
    if (url) return { kind: 'folder', url: url.href, ...(hub && { hub }) };
  }
  if (model !== null && typeof model === 'object') {
    const entries: [string, unknown][] = isFileList(model)
      ? Array.from(model, (file) => [file.webkitRelativePath || file.name, file])
      : Object.entries(model);
    const files = entries.map(([path, file]) => {
      if (file instanceof Blob) return { path, file };
      if (file instanceof ArrayBuffer || ArrayBuffer.isView(file))
        return { path, file: new Blob([file as ArrayBuffer]) };
      throw argumentError(caller, `model[${JSON.stringify(path)}]`, file, 'a File, a Blob or bytes');
    });
    if (files.length > 0) return { kind: 'files', files };
  }
  throw argumentError(caller, 'model', model, "'whale', hf://owner/name, the URL of a folder, or files by name");
}

export function readTexts(caller: string, parameter: string, value: unknown, count: number): string[] | undefined {
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

/** Removes the character for a space at the beginning of a token, as tokenizers write it. */
const plainToken = (token: string) => (/^[Ġ▁]./u.test(token) ? token.slice(1) : token);
