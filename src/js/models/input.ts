// Reads the input of a transformer: ids, pixels or audio features.

import { readOptions } from '../check/arguments.ts';
import { argumentError, HeadlightError, shapeError } from '../check/errors.ts';
import type { TensorLike } from '../check/tensorlike.ts';
import { readNumbers, toLabels } from '../ops/labels.ts';
import type { Resolved } from './options.ts';
import { rarePart } from './rareParts.ts';

/** The inputs of PlainInput under the names that other libraries use. */
export type ForeignInput =
  | { input_ids: TensorLike; attention_mask?: TensorLike; token_type_ids?: TensorLike; position_ids?: TensorLike }
  | { pixel_values: TensorLike }
  | { input_features: TensorLike }
  | { input_values: TensorLike; attention_mask?: TensorLike };
/** ids (T) or (B,T); keep (B,T): 0 = padding; pixels (B,3,H,W); features (B,C,N); samples (N) or (B,N) */
export type PlainInput =
  | string
  | TensorLike
  | { ids: TensorLike; keep?: TensorLike; typeIds?: TensorLike; positions?: TensorLike }
  | { pixels: TensorLike }
  | { features: TensorLike }
  | { samples: TensorLike; keep?: TensorLike }
  | ForeignInput;
export type ModelInput =
  | PlainInput
  | { encoder: PlainInput; ids: TensorLike; keep?: TensorLike; positions?: TensorLike };
/** A checked input. Ids of tokens are in labels; pixels, features and samples are in numbers. */
export type ReadInput = {
  /** name of the input in the caller's argument */
  called: string;
  batched: boolean;
  batch: number;
  /** number of tokens, patches or frames in the input */
  rows: number;
  labels?: Int32Array | undefined;
  keep?: Uint8Array | undefined;
  typeIds?: Int32Array | undefined;
  positions?: Int32Array | undefined;
  numbers?: { data: ArrayLike<number>; shape: readonly number[] } | undefined;
  encoder?: ReadInput | undefined;
};

/** The name that other libraries use for an input, by the name of the input in this module. */
const FOREIGN = {
  ids: 'input_ids',
  keep: 'attention_mask',
  typeIds: 'token_type_ids',
  positions: 'position_ids',
  pixels: 'pixel_values',
  features: 'input_features',
  samples: 'input_values',
} as const;
/** The last two are in results of encode(), and are not read. */
const FORMS = [...Object.keys(FOREIGN), 'encoder', ...Object.values(FOREIGN), 'tokens', 'offsets'];
const MAX_INT = 2 ** 31 - 1;
/** Largest batch. It bounds the time for a batch of sequences without tokens. */
const MAX_BATCH = 2 ** 24;
const KINDS = { tokens: 'ids', patches: 'pixels', audio: 'features', sound: 'samples' } as const;

/** An input under the names of this module. called: the name that the caller used, by the name of this module. */
export type NamedInput = { given: Record<string, any>; called: Record<string, string> };

const isNamed = (input: unknown): input is Record<string, unknown> =>
  typeof input === 'object' && input !== null && FORMS.some((name) => Object.hasOwn(input, name));

/**
 * Renames to the names of this module. A result of encode() has type ids for every model; only what the model reads is
 * kept. tokenTypes: of the model.
 */
export function readNamed(caller: string, input: unknown, tokenTypes = 0): NamedInput {
  if (!isNamed(input)) return { given: { ids: input }, called: {} };
  const { tokens, offsets, ...given } = readOptions(caller, input, FORMS) as Record<string, unknown>;
  if (tokens && !tokenTypes) delete given.typeIds;
  const called: Record<string, string> = {};
  for (const [name, foreign] of Object.entries(FOREIGN)) {
    if (given[foreign] === undefined) continue;
    if (given[name] !== undefined) throw argumentError(caller, foreign, given[foreign], `none, as ${name} is given`);
    given[name] = given[foreign];
    called[name] = foreign;
    delete given[foreign];
  }
  return { given, called };
}

export function refuseTexts(caller: string, called: string, ids: unknown) {
  if (Array.isArray(ids) && typeof ids[0] === 'string')
    throw argumentError(caller, called, ids, 'numbers, or one text in place of a list; use one call for each text');
}

/** encoded: true: the encoder's output is in the cache */
export function readInput(
  caller: string,
  options: Resolved,
  input: ModelInput,
  encode: (text: string) => { ids: readonly number[]; typeIds: readonly number[] },
  encoded = false,
): ReadInput {
  if (typeof input === 'string') {
    if (options.encoder) throw argumentError(caller, 'input', input, '{ encoder, ids }, as this model has an encoder');
    if (options.input !== 'tokens')
      throw argumentError(caller, 'input', input, `the input of this model: { ${KINDS[options.input]} }`);
    const { ids, typeIds } = encode(input);
    return readInput(
      caller,
      options,
      { ids: [...ids], ...(options.tokenTypes > 0 && { typeIds: [...typeIds] }) },
      encode,
    );
  }
  const { given, called } = readNamed(caller, input, options.tokenTypes);
  if (options.encoder && given.encoder === undefined && !encoded)
    throw argumentError(caller, 'input', input, '{ encoder, ids }, as this model has an encoder');
  if (!options.encoder && given.encoder !== undefined)
    throw argumentError(caller, 'encoder', given.encoder, 'none, because this model has no encoder');
  const kind = KINDS[options.input];
  if (given[kind] === undefined) throw argumentError(caller, kind, given[kind], `the input of this model: { ${kind} }`);
  if (options.sound) return rarePart('sound', caller).readSamples(caller, { given, called }, options);
  if (kind !== 'ids') return readArrays(caller, called[kind] ?? kind, given[kind], options);
  const encoder = options.encoder && !encoded ? readInput(caller, options.encoder, given.encoder, encode) : undefined;
  return { ...readLabels(caller, { given, called }, options), encoder };
}

function readLabels(
  caller: string,
  { given, called: names }: NamedInput,
  { vocab, tokenTypes, context }: Resolved,
): ReadInput {
  const called = names.ids ?? 'ids';
  refuseTexts(caller, called, given.ids);
  const { ints: labels, shape } = toLabels(readNumbers(given.ids, caller, called), caller, vocab, undefined, called);
  if (shape.length !== 1 && shape.length !== 2) throw shapeError(caller, called, shape, '(T) or (B,T)');
  const batched = shape.length === 2;
  const [batch, rows] = batched ? shape : [1, shape[0]];
  if (batch > MAX_BATCH) throw shapeError(caller, called, shape, `a batch of at most ${MAX_BATCH}`);
  /** Reads an input that has the same shape as the ids. */
  const readPart = (part: string, below: number) => {
    if (given[part] === undefined) return undefined;
    const name = names[part] ?? part;
    const read = toLabels(readNumbers(given[part], caller, name), caller, below, undefined, name);
    if (read.ints.length !== labels.length)
      throw shapeError(caller, name, read.shape, `as many as ids: ${batched ? `(${batch},${rows})` : `(${rows})`}`);
    return read.ints;
  };
  if (given.typeIds !== undefined && tokenTypes === 0)
    throw argumentError(caller, names.typeIds ?? 'typeIds', given.typeIds, 'none, as this model has no token types');
  const keep = readPart('keep', 2);
  return {
    called,
    batched,
    batch,
    rows,
    labels,
    keep: keep && Uint8Array.from(keep),
    typeIds: readPart('typeIds', tokenTypes),
    positions: readPart('positions', Math.min(context, MAX_INT)),
  };
}

function readArrays(caller: string, kind: string, value: unknown, { patch, channels, context }: Resolved): ReadInput {
  const source = readNumbers(value as TensorLike, caller, kind);
  const [data, shape] = [source.floats(), source.shape];
  if (patch) {
    const { size, channels, image, anySize } = patch;
    const sides = shape.slice(2);
    const fits = anySize ? sides.every((side) => side >= size) : sides.every((side, i) => side === image[i]);
    if (shape.length !== 4 || shape[1] !== channels || !fits)
      throw shapeError(caller, kind, shape, `(B,${channels},${anySize ? `≥${size},≥${size}` : image.join()})`);
    const rows = sides.reduce((count, side) => count * Math.floor(side / size), 1);
    return { called: kind, batched: true, batch: shape[0], rows, numbers: { data, shape } };
  }
  if (shape.length !== 3 || shape[1] !== channels || shape[2] !== 2 * context)
    throw shapeError(caller, kind, shape, `(B,${channels},${2 * context})`);
  return { called: kind, batched: true, batch: shape[0], rows: context, numbers: { data, shape } };
}

/** reason: why the tokenizer of the model's files is not supported */
export const noTokenizer = (caller: string, reason?: string) => {
  const why = reason ? `: ${reason}` : '';
  const text = `${caller}: text is given, but this model has no tokenizer${why}; set model.tokenizer`;
  return new HeadlightError('STATE', text, { parameter: 'input' });
};
