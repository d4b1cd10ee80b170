// Writes a model as a GGUF file, which llama.cpp opens, by the tables with which openModel reads these files. A model
// is suitable if the same options are read from the new metadata.

import { readOptions, readWord } from '../../../check/arguments.ts';
import { argumentError, HeadlightError } from '../../../check/errors.ts';
import { quote } from '../../../check/quote.ts';
import { isInRange, WRITTEN_TYPES, type WrittenType, writeRows } from '../../../io/ggufBlocks.ts';
import type { GgufValue } from '../../../io/ggufCursor.ts';
import { newGguf, type Value } from '../../../io/ggufWriter.ts';
import type { Architecture, Family } from '../../families/common.ts';
import { FAMILIES } from '../../families/index.ts';
import { type Resolved, resolveOptions } from '../../options.ts';
import { parameterShapes } from '../../parameters.ts';
import type { Transformer } from '../../transformer.ts';
import { sourceOf } from '../naming.ts';
import { ModelMetadata, makeConfig } from './ggufConfig.ts';
import { ggufFamily, ggufSources } from './ggufFamily.ts';
import { divisorsOf, KEYS, string, u32 } from './ggufKeys.ts';
import { ARCHITECTURES, FREQUENCIES, ggufName, parseName, projectionOf } from './ggufNames.ts';
import { textKeys } from './ggufText.ts';

export type SaveGgufOptions = {
  /**
   * type of the matrices; default 'F16'. Other tensors are F32; for Q8_0 and Q4_0, matrices whose rows are no multiple
   * of 32 are F16; for Q4_0, the head is Q8_0
   */
  type?: WrittenType | undefined;
  /** tokenizer.json; default: the one that the model was opened with; null: none */
  tokenizer?: string | Uint8Array | null | undefined;
  /** name of the model in the metadata; default: the architecture */
  name?: string | undefined;
};
/** index: position among the parameters of the tensor */
export type Parameter = { name: string; index: number };
/**
 * A tensor and the parameters of its consecutive rows. hf: its name in Hugging Face's files. headDim: set if rows n and
 * n + headDim/2 of each head are next to each other.
 */
export type Planned = { name: string; hf: string; shape: number[]; parameters: Parameter[]; headDim?: number };
export type Form = {
  architecture: string;
  keys: Map<string, Value>;
  tensors: Map<string, Planned>;
  wrong: string[];
  distance: number;
};

const CALLER = 'saveGguf';
/** Options that do not change the results of inference. */
const TRAINING_ONLY = new Set(['std', 'seed', 'dropout']);
const FILE_TYPES: Record<WrittenType, number> = { F32: 0, F16: 1, Q4_0: 2, Q8_0: 7, BF16: 32 };
const QUANTIZATION_VERSION = 2;
/** Number of values that are converted at once. */
const CHUNK = 2 ** 20;
/** Maximum relative error of a number in the metadata, which is stored as float32. */
const ROUNDED = 2 ** -23;

/** Returns the tensors by GGUF's names, and the parameters for which GGUF has no name. */
function planTensors(architecture: Architecture, family: Family, options: Resolved) {
  const named = { ...family, names: ggufSources(family.names) };
  const tensors: Map<string, Planned> = new Map();
  const unnamed: string[] = [];
  for (const [parameter, shape] of parameterShapes(options)) {
    const { source, names } = sourceOf(named, family.prefixes[0], parameter);
    const name = names.length > 0 ? ggufName(architecture, names[0]) : parameter;
    if (names.length === 0 || name === names[0]) {
      unnamed.push(parameter);
      continue;
    }
    const { base } = parseName(name);
    const rotated = architecture.neighbours && [0, 1].includes(projectionOf(base));
    const tensor = tensors.get(name) ?? { name, hf: names[0], shape: [0, ...shape.slice(1)], parameters: [] };
    tensor.shape[0] += shape[0];
    tensor.parameters.push({ name: parameter, index: source?.part?.[1] ?? 0 });
    tensor.parameters.sort((a, b) => a.index - b.index);
    tensors.set(name, rotated ? { ...tensor, headDim: options.headDim } : tensor);
  }
  return { tensors, unnamed };
}

/** True if options are equal up to the rounding of numbers. */
function isSame(a: any, b: any): boolean {
  if (typeof a === 'number' && typeof b === 'number') return a === b || Math.abs(a - b) <= ROUNDED * Math.abs(a);
  if (a === null || b === null || typeof a !== 'object' || typeof b !== 'object') return a === b;
  return [...new Set([...Object.keys(a), ...Object.keys(b)])].every((key) => isSame(a[key], b[key]));
}

/** Returns the options as openModel reads them from a GGUF file: rotary scaling by factors, or yarn with all fields. */
function describedBy(o: Resolved) {
  const { rotary } = o;
  const divisors = divisorsOf(o);
  if (!rotary?.scaling) return o;
  const { scaling } = rotary;
  if (divisors) {
    const attentionFactor = scaling.type === 'factors' ? (scaling.attentionFactor ?? 1) : 1;
    return { ...o, rotary: { ...rotary, scaling: { type: 'factors', factors: [...divisors], attentionFactor } } };
  }
  return { ...o, rotary: { ...rotary, scaling: { betaFast: 32, betaSlow: 1, ...scaling } } };
}

/** Options read differently from the metadata. distance: their number, or Infinity if it cannot be read. */
function differences(
  keys: ReadonlyMap<string, Value>,
  tensors: ReadonlyMap<string, Planned>,
  family: Family,
  options: Resolved,
): { wrong: string[]; distance: number } {
  const values = Object.fromEntries([...keys].map(([key, { value }]) => [key, value]));
  const meta = new ModelMetadata(CALLER, values as Record<string, GgufValue>);
  const written = new Set([...tensors.values()].map(({ hf }) => hf));
  const has = (name: string) => written.has(name.startsWith('/') ? name.slice(1) : family.prefixes[0] + name);
  let read: any;
  try {
    const divisors = divisorsOf(options);
    const config = makeConfig(meta, tensors as any, { all: divisors && [...divisors] });
    read = describedBy(resolveOptions(ggufFamily(family, tensors, meta).options(config, has), CALLER));
  } catch (error) {
    const { field, parameter = 'options' } = error as any;
    return { wrong: [field ?? parameter], distance: Infinity };
  }
  const expected = describedBy(options) as any;
  const wrong = Object.keys(options).filter((name) => !TRAINING_ONLY.has(name) && !isSame(read[name], expected[name]));
  return { wrong, distance: wrong.length };
}

function formOf(name: string, options: Resolved): Form {
  const architecture = ARCHITECTURES.get(name) as Architecture;
  const family = FAMILIES.get(architecture.type) as Family;
  const keys: Map<string, Value> = new Map([['general.architecture', string(name)]]);
  for (const [key, value] of Object.entries(KEYS[name](options))) if (value) keys.set(`${name}.${key}`, value);
  const { tensors, unnamed } = planTensors(architecture, family, options);
  const { wrong, distance } = differences(keys, tensors, family, options);
  return { architecture: name, keys, tensors, wrong: wrong.length > 0 ? wrong : unnamed, distance };
}

const valueIn = (options: Resolved, name: string) => (options as Record<string, unknown>)[name];

const familyOf = (architecture: string) => FAMILIES.get(ARCHITECTURES.get(architecture)?.type)?.name;

/** Returns the form from which openModel reads the same options. */
function chooseForm({ family, options }: Transformer) {
  const all = Object.keys(KEYS);
  const names = all.filter((name) => family === undefined || familyOf(name) === family);
  if (names.length === 0) throw refused('family', family, `a model of the family ${family} is not written`, all);
  if (options.input !== 'tokens' || options.encoder || options.head !== 'logits' || options.classes > 0)
    throw refused('head', options.head, 'only models that continue a text can be written', all);
  const forms = names.map((name) => formOf(name, options));
  const exact = forms.find(({ wrong }) => wrong.length === 0);
  if (exact) return exact;
  const best = forms.reduce((a, b) => (b.distance < a.distance ? b : a));
  const values = best.wrong
    .map((name) => (name in options ? `${name} ${quote(valueIn(options, name))}` : name))
    .join(', ');
  throw refused(best.wrong[0], valueIn(options, best.wrong[0]), `${best.architecture} in GGUF has no ${values}`, all);
}

const refused = (parameter: string, got: unknown, reason: string, expected: string[]) =>
  new HeadlightError('ARGUMENT', `${CALLER}: ${reason}; the families that can be written are ${expected.join(', ')}`, {
    parameter,
    got,
    expected,
  });

/** Returns the type of a tensor. type: that the caller wants. */
function typeOf({ name, shape }: Planned, type: WrittenType, tied: boolean): WrittenType {
  if (shape.length < 2 || name === 'position_embd.weight') return 'F32';
  if (type !== 'Q8_0' && type !== 'Q4_0') return type;
  if (shape[1] % 32 !== 0) return 'F16';
  return name === (tied ? 'token_embd.weight' : 'output.weight') ? 'Q8_0' : type;
}

/** Returns the row of a parameter that is stored in this row of a tensor. */
function rowAt(row: number, headDim?: number) {
  if (headDim === undefined) return row;
  const within = row % headDim;
  return row - within + (within % 2 === 0 ? within / 2 : (within - 1 + headDim) / 2);
}

function writeParameter(values: Float32Array, { name, shape, headDim }: Planned, type: WrittenType, out: Uint8Array) {
  const width = shape[1] ?? 1;
  const count = values.length / width;
  const rowBytes = out.length / count;
  const most = Math.max(1, Math.floor(CHUNK / width));
  for (let first = 0; first < count; first += most) {
    const last = Math.min(first + most, count);
    let rows = values.subarray(first * width, last * width);
    if (headDim !== undefined) {
      rows = new Float32Array(rows.length);
      for (let row = first; row < last; row++) {
        const from = rowAt(row, headDim) * width;
        rows.set(values.subarray(from, from + width), (row - first) * width);
      }
    }
    if (!isInRange(rows, type)) {
      const text = `${CALLER}: ${quote(name)} has numbers that ${type} cannot hold; type: 'F32' can hold all numbers`;
      throw new HeadlightError('ARGUMENT', text, { parameter: 'type', got: type });
    }
    writeRows(type, rows, out.subarray(first * rowBytes, last * rowBytes));
  }
}

function writeTensor(tensor: Planned, type: WrittenType, out: Uint8Array, model: Transformer) {
  const rowBytes = out.length / tensor.shape[0];
  let at = 0;
  for (const { name } of tensor.parameters) {
    const values = model.valuesOf(name, CALLER);
    const end = at + (values.length / (tensor.shape[1] ?? 1)) * rowBytes;
    writeParameter(values, tensor, type, out.subarray(at, end));
    at = end;
  }
}

function readTokenizer(tokenizer: unknown): Uint8Array | null | undefined {
  if (typeof tokenizer === 'string') return new TextEncoder().encode(tokenizer);
  if (tokenizer === undefined || tokenizer === null || tokenizer instanceof Uint8Array) return tokenizer;
  throw argumentError(CALLER, 'tokenizer', tokenizer, 'the text of a tokenizer.json, or its bytes, or null');
}

export function saveGguf(model: Transformer, options: SaveGgufOptions = {}): Uint8Array<ArrayBuffer> {
  const given = readOptions(CALLER, options, ['type', 'tokenizer', 'name']);
  const type = readWord(CALLER, 'type', given.type ?? 'F16', WRITTEN_TYPES);
  const { architecture, keys, tensors } = chooseForm(model);
  const { name = architecture } = given;
  if (typeof name !== 'string') throw argumentError(CALLER, 'name', name, 'a text');
  keys.set('general.name', string(name));
  keys.set('general.file_type', u32(FILE_TYPES[type]));
  if (type === 'Q8_0' || type === 'Q4_0') keys.set('general.quantization_version', u32(QUANTIZATION_VERSION));
  for (const [key, value] of Object.entries(textKeys(model, readTokenizer(given.tokenizer)))) keys.set(key, value);
  const planned = [...tensors.values()];
  const types = planned.map((tensor) => typeOf(tensor, type, model.options.tied));
  const divisors = divisorsOf(model.options);
  const entries = planned.map((tensor, i) => ({ name: tensor.name, shape: tensor.shape, type: types[i] }));
  if (divisors) entries.push({ name: FREQUENCIES[0], shape: [divisors.length], type: 'F32' });
  const { file, parts } = newGguf(CALLER, keys, entries);
  for (const [i, tensor] of planned.entries()) writeTensor(tensor, types[i], parts[i], model);
  if (divisors) writeRows('F32', divisors, parts[planned.length]);
  return file;
}
