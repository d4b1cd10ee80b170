// Validates the options of toOnnx. Each option is read only once.

import { readBoolean, readNumber, readOptions } from '../check/arguments.ts';
import { argumentError, HeadlightError } from '../check/errors.ts';
import { alibiSlopes, type RotaryOptions, readRotary } from '../ops/rotary.ts';

export type FileOptions = {
  /**
   * version of the operator set: 17 has primitive operators, for any runtime; 23 adds Attention, RotaryEmbedding and
   * RMSNormalization; default 17
   */
  opset?: 17 | 23 | undefined;
  /** writes parameters to a separate file, model.onnx.data; default false */
  external?: boolean | undefined;
  /**
   * adds inputs pastKey and pastValue with the keys and values of earlier tokens, and outputs presentKey and
   * presentValue that include those of this run; default false
   */
  cache?: boolean | undefined;
};
/** The options of attention. For an option that is a tensor in hl.attention, true makes it an input of the model. */
export type SightOptions = {
  /** adds the attention weights as an output, (B,H,T,S), or (B,T,S) for 'mean' */
  weights?: boolean | 'mean' | undefined;
  causal?: boolean | undefined;
  window?: readonly [number, number] | undefined;
  /**
   * adds the input mask, of four axes that broadcast to (B,H,T,S): booleans, where true means that the query may
   * attend to the key, or floats that are added to the scores
   */
  mask?: boolean | 'boolean' | 'float' | undefined;
  /** adds the input bias, floats (B,H,T,S), which are added to the scores, also with a boolean mask */
  bias?: boolean | undefined;
  /** adds the input keyPadding, booleans (B,S), true for a real key */
  keyPadding?: boolean | undefined;
  /** adds the input validLens, int64 (B), or (B,T) for 'queries' */
  validLens?: boolean | 'queries' | undefined;
  /** position of query 0 among the keys; true adds the input offset, int64 (B) */
  offset?: number | true | undefined;
  scale?: number | undefined;
  softcap?: number | undefined;
  maskFill?: number | undefined;
  rotary?: RotaryOptions | undefined;
  /** number of positions in the rotary tables; default 2048 */
  context?: number | undefined;
  alibi?: boolean | readonly number[] | Float32Array | undefined;
  /** adds the input sinks, floats (H) */
  sinks?: boolean | undefined;
};
export type Sighted = ReturnType<typeof readSight>;

export const CALLER = 'toOnnx';
export const FILE_OPTIONS = ['opset', 'external', 'cache'];
export const SIGHT_OPTIONS = [
  ...['weights', 'causal', 'window', 'mask', 'bias', 'keyPadding', 'validLens', 'offset', 'scale', 'softcap'],
  ...['maskFill', 'rotary', 'context', 'alibi', 'sinks'],
];
/** Options of attention that cannot be exported, with advice. */
const NOT_EXPORTED: Record<string, string> = {
  dropout: 'omit it, dropout is for training only',
  train: 'omit it, ONNX models are for inference',
  scores: 'use weights: true instead',
  out: 'omit it, an ONNX model allocates its outputs',
  pastKey: 'use cache: true, which adds the inputs pastKey and pastValue',
  pastValue: 'use cache: true, which adds the inputs pastKey and pastValue',
};
const DISTANCE = { integer: true, least: -1, most: 2 ** 31 - 1 };
const POSITION = { integer: true, least: -(2 ** 31), most: 2 ** 31 - 1 };

/** Returns a copy of the options. Throws for an unknown option. */
export function readKnown<T extends object>(options: T, known: readonly string[]): T {
  if (options !== null && typeof options === 'object') {
    for (const name of Object.keys(options)) {
      const expected = known.includes(name) ? undefined : NOT_EXPORTED[name];
      if (!expected) continue;
      throw new HeadlightError('ARGUMENT', `${CALLER}: option '${name}' cannot be exported to ONNX: ${expected}`, {
        parameter: name,
        expected,
        got: (options as Record<string, unknown>)[name],
      });
    }
  }
  return readOptions(CALLER, options, known);
}

export function readFileOptions({ opset = 17, external = false, cache = false }: FileOptions) {
  if (opset !== 17 && opset !== 23) throw argumentError(CALLER, 'opset', opset, '17 or 23');
  return {
    opset,
    external: readBoolean(CALLER, 'external', external),
    cache: readBoolean(CALLER, 'cache', cache),
  };
}

export function readSight(options: SightOptions, heads: number) {
  const { weights = false, causal = false, window = [-1, -1], mask = false, bias = false, validLens = false } = options;
  const { keyPadding = false, sinks = false, offset, scale, softcap = 0, maskFill = -Infinity } = options;
  const { rotary, alibi = false, context = 2048 } = options;
  if (!Array.isArray(window) || window.length !== 2) throw argumentError(CALLER, 'window', window, '[left, right]');
  const input = (name: string, value: unknown) => {
    const expected = 'true, because the tensor is an input of the model';
    if (typeof value === 'object') throw argumentError(CALLER, name, value, expected);
    return readBoolean(CALLER, name, value);
  };
  const isMask = mask === 'boolean' || mask === 'float';
  return {
    weights: weights === 'mean' ? weights : readBoolean(CALLER, 'weights', weights),
    causal: readBoolean(CALLER, 'causal', causal),
    window: window.map((n, i) => readNumber(CALLER, `window[${i}]`, n, DISTANCE)) as [number, number],
    mask: isMask ? mask : input('mask', mask) ? ('boolean' as const) : undefined,
    bias: input('bias', bias),
    keyPadding: input('keyPadding', keyPadding),
    validLens: validLens === 'queries' ? validLens : input('validLens', validLens),
    sinks: input('sinks', sinks),
    offset: offset === undefined || offset === true ? offset : readNumber(CALLER, 'offset', offset, POSITION),
    scale: scale === undefined ? undefined : readNumber(CALLER, 'scale', scale),
    softcap: readNumber(CALLER, 'softcap', softcap, { least: 0 }),
    fill: maskFill === -Infinity ? maskFill : readNumber(CALLER, 'maskFill', maskFill),
    rotary: rotary === undefined ? undefined : readRotary(CALLER, rotary),
    slopes: readSlopes(alibi, heads),
    context: readNumber(CALLER, 'context', context, { integer: true, least: 1, most: 2 ** 24 }),
  };
}

function readSlopes(alibi: SightOptions['alibi'], heads: number) {
  if (alibi === false) return undefined;
  if (alibi === true) return alibiSlopes(heads);
  const expected = `true, false or ${heads} slopes`;
  if (!alibi || typeof alibi !== 'object' || alibi.length !== heads)
    throw argumentError(CALLER, 'alibi', alibi, expected);
  return Float32Array.from(alibi, (slope, h) => readNumber(CALLER, `alibi[${h}]`, slope));
}
