// Exports a multi-head layer, or attention alone, as an ONNX model.

import { readBoolean, readNumber } from '../check/arguments.ts';
import { argumentError } from '../check/errors.ts';
import type { Tensor } from '../memory/tensor.ts';
import type { MultiHeadAttention } from '../ops/multihead.ts';
import { attend, rotaryTables, rotate, visibility } from './attention.ts';
import { type Dim, type OnnxFiles, OnnxGraph } from './graph.ts';
import { joinHeads, linear, splitHeads } from './operators.ts';
import {
  CALLER,
  FILE_OPTIONS,
  type FileOptions,
  readFileOptions,
  readKnown,
  readSight,
  SIGHT_OPTIONS,
  type Sighted,
  type SightOptions,
} from './options.ts';
import { type Parameter, tensor } from './weight.ts';

/** self: true for a single input for query, key and value; default true if these have the same width. */
export type LayerOnnxOptions = FileOptions & SightOptions & { self?: boolean };
/**
 * The options of hl.attention. For an option that is a tensor there, true makes it an input of the model. Inputs are
 * query (B,H,T,D), key (B,G,S,D) and value (B,G,S,Dv), or packed (B,T,H·D), (B,S,G·D), (B,S,G·Dv).
 */
export type AttentionOnnxOptions = FileOptions &
  SightOptions & { numHeads: number; kvHeads?: number; headDim?: number; packed?: boolean };
/** (B,H,T,D), (B,G,S,D), (B,G,S,Dv) */
export type Heads = { query: string; key: string; value: string };
export type Form = {
  heads: number;
  kvHeads: number;
  /** D, the width of a head */
  width?: number | undefined;
  /** name of the axis of fresh keys */
  keys: string;
  cache: boolean;
  /** the learned key and value that are appended */
  appended?: Parameter[] | undefined;
  /** true to append a key and a value of zeros */
  zero?: boolean | undefined;
};

const SIZE = { integer: true, least: 1, most: 2 ** 31 - 1 };

export function layerToOnnx(layer: MultiHeadAttention, given: LayerOnnxOptions): OnnxFiles {
  const options = readKnown(given, [...FILE_OPTIONS, ...SIGHT_OPTIONS, 'self']);
  const { numHeads: heads, kvHeads, headDim: width, biasKV, zeroAttention, weights } = layer.options;
  const { queryDim, keyDim, valueDim, embedDim, outProjection } = layer.options;
  const file = readFileOptions(options);
  const sighted = readSight(options, heads);
  const alike = keyDim === queryDim && valueDim === queryDim;
  const self = readBoolean(CALLER, 'self', options.self ?? alike);
  if (self && !alike) throw argumentError(CALLER, 'self', self, 'false, because the inputs differ in width');
  const graph = new OnnxGraph(file);
  const keys = self ? 'length' : 'keys';
  const query = graph.input('query', 'float', ['batch', 'length', queryDim]);
  const key = self ? query : graph.input('key', 'float', ['batch', keys, keyDim]);
  const value = self ? query : graph.input('value', 'float', ['batch', keys, valueDim]);

  const parameter = (name: string): Parameter | undefined => {
    const found = (layer.parameters as Record<string, Tensor | undefined>)[name];
    const int8 = weights === 'int8' && found?.shape.length === 2;
    return found && { name, shape: found.shape, data: () => found.copy(), int8 };
  };
  const project = (x: string, letter: string) => {
    const [weight, bias] = [parameter(`w${letter}`), parameter(`b${letter}`)];
    return linear(graph, x, tensor(graph, weight as Parameter), bias && tensor(graph, bias));
  };
  const split = (x: string, count: number) => splitHeads(graph, x, count, width);
  const parts = {
    query: split(project(query, 'q'), heads),
    key: split(project(key, 'k'), kvHeads),
    value: split(project(value, 'v'), kvHeads),
  };
  const appended = biasKV ? ['biasK', 'biasV'].map((name) => parameter(name) as Parameter) : undefined;
  const form = { heads, kvHeads, width, keys, cache: file.cache, appended, zero: zeroAttention };
  const { output, finish } = attendOnce(graph, parts, form, sighted);
  const joined = joinHeads(graph, output, heads * width);
  const outputWidth = outProjection ? embedDim : heads * width;
  graph.output('output', outProjection ? project(joined, 'o') : joined, 'float', ['batch', 'length', outputWidth]);
  finish();
  return graph.finish('multiHeadAttention');
}

export function attentionToOnnx(given: AttentionOnnxOptions): OnnxFiles {
  const own = ['numHeads', 'kvHeads', 'headDim', 'packed'];
  const options = readKnown(given, [...own, ...FILE_OPTIONS, ...SIGHT_OPTIONS]);
  const heads = readNumber(CALLER, 'numHeads', options.numHeads, SIZE);
  const kvHeads = readNumber(CALLER, 'kvHeads', options.kvHeads ?? heads, SIZE);
  if (heads % kvHeads) throw argumentError(CALLER, 'kvHeads', kvHeads, `a number that divides numHeads = ${heads}`);
  const width = options.headDim === undefined ? undefined : readNumber(CALLER, 'headDim', options.headDim, SIZE);
  const packed = readBoolean(CALLER, 'packed', options.packed ?? false);
  const file = readFileOptions(options);
  const sighted = readSight(options, heads);
  if (sighted.rotary && !width) throw argumentError(CALLER, 'headDim', width, 'the width of a head, for rotary');
  const graph = new OnnxGraph(file);
  const input = (name: string, count: number, rows: string, size: Dim) => {
    if (!packed) return graph.input(name, 'float', ['batch', count, rows, size]);
    const channels = typeof size === 'number' ? size * count : `${name}Channels`;
    return splitHeads(graph, graph.input(name, 'float', ['batch', rows, channels]), count, -1);
  };
  const parts = {
    query: input('query', heads, 'length', width ?? 'width'),
    key: input('key', kvHeads, 'keys', width ?? 'width'),
    value: input('value', kvHeads, 'keys', 'valueWidth'),
  };
  const form = { heads, kvHeads, width, keys: 'keys', cache: file.cache };
  const { output, finish } = attendOnce(graph, parts, form, sighted);
  if (packed) graph.output('output', joinHeads(graph, output, -1), 'float', ['batch', 'length', 'channels']);
  else graph.output('output', output, 'float', ['batch', heads, 'length', 'valueWidth']);
  finish();
  return graph.finish('attention');
}

/**
 * Builds attention on split heads, with all inputs that the options request.
 * @returns output: (B,H,T,Dv); finish: declares the other outputs
 */
function attendOnce(
  graph: OnnxGraph,
  parts: Heads,
  form: Form,
  sighted: Sighted,
): { output: string; finish: () => void } {
  const { heads, kvHeads, cache, width } = form;
  let { query, key, value } = parts;
  const [queries, fresh] = [graph.size(query, 2), graph.size(key, 2)];
  const pastKey = cache ? graph.input('pastKey', 'float', ['batch', kvHeads, 'past', width ?? 'width']) : '';
  const pastValue = cache ? graph.input('pastValue', 'float', ['batch', kvHeads, 'past', width ?? 'valueWidth']) : '';
  const past = cache ? graph.size(pastKey, 2) : undefined;
  const offset = offsetOf(graph, sighted, past);
  if (sighted.rotary) {
    const at = (size: string, first: string | undefined) =>
      first ? graph.op('Add', [graph.range(size), first]) : graph.range(size);
    const rotated = rotatedOf(width as number, sighted.rotary.width);
    const tables = rotaryTables(graph, 'rotary', { ...sighted.rotary, rotated, context: sighted.context });
    const first = sighted.offset === true ? graph.reshape(offset as string, -1, 1) : offset;
    query = rotate(graph, query, at(queries, first), width as number, tables);
    key = rotate(graph, key, at(fresh, past), width as number, tables);
  }
  if (cache) {
    key = graph.op('Concat', [pastKey, key], { axis: 2 });
    value = graph.op('Concat', [pastValue, value], { axis: 2 });
  }
  const present = { key, value };
  const keys = graph.size(key, 2);
  const { appended: learned, zero } = form;
  const appended = Number(learned !== undefined) + Number(zero === true);
  if (appended) {
    const [biasK, biasV] = learned ?? [];
    key = graph.op('Concat', [key, ...appendedRows(graph, key, form, biasK)], { axis: 2 });
    value = graph.op('Concat', [value, ...appendedRows(graph, value, form, biasV)], { axis: 2 });
  }
  const floatMask = sighted.mask === 'float' ? maskInput(graph, 'mask', 'float') : undefined;
  const bias = sighted.bias ? maskInput(graph, 'bias', 'float') : undefined;
  const visible = visibility(graph, {
    queries,
    keys,
    offset,
    offsetByBatch: sighted.offset === true,
    causal: sighted.causal,
    window: sighted.window,
    mask: sighted.mask === 'boolean' ? maskInput(graph, 'mask', 'bool') : undefined,
    bias: floatMask && bias ? graph.op('Add', [floatMask, bias]) : (floatMask ?? bias),
    keyPadding: sighted.keyPadding
      ? graph.input('keyPadding', 'bool', ['batch', cache ? 'present' : form.keys])
      : undefined,
    validLens: sighted.validLens
      ? graph.input('validLens', 'int64', ['batch', ...(sighted.validLens === 'queries' ? ['length'] : [])])
      : undefined,
    lensByQuery: sighted.validLens === 'queries',
    slopes: sighted.slopes,
    appended,
  });
  const sinks = sighted.sinks ? graph.input('sinks', 'float', [heads]) : undefined;
  const { scale = width && 1 / Math.sqrt(width), softcap, fill } = sighted;
  const what = { query, key, value, heads, kvHeads, scale, softcap, fill, sinks, weights: sighted.weights !== false };
  const { output, weights } = attend(graph, { ...what, ...visible });
  const finish = () => {
    const attended = appended ? 'attended' : cache ? 'present' : form.keys;
    if (sighted.weights === true)
      graph.output('weights', weights as string, 'float', ['batch', heads, 'length', attended]);
    if (sighted.weights === 'mean') {
      const mean = graph.reduce('ReduceMean', weights as string, [1], 0);
      graph.output('weights', mean, 'float', ['batch', 'length', attended]);
    }
    if (!cache) return;
    graph.output('presentKey', present.key, 'float', ['batch', kvHeads, 'present', width ?? 'width']);
    graph.output('presentValue', present.value, 'float', ['batch', kvHeads, 'present', width ?? 'valueWidth']);
  };
  return { output, finish };
}

function offsetOf(graph: OnnxGraph, { offset }: Sighted, past: string | undefined) {
  if (offset === true) return graph.input('offset', 'int64', ['batch']);
  if (offset === undefined) return past;
  return offset === 0 ? undefined : graph.ints(offset);
}

function rotatedOf(width: number, rotated: number = width) {
  if (rotated <= width && rotated % 2 === 0) return rotated;
  const expected = `an even number of at most ${width}, the width of a head`;
  throw argumentError(CALLER, 'rotary.width', rotated, expected);
}

const maskInput = (graph: OnnxGraph, name: string, type: 'bool' | 'float') =>
  graph.input(
    name,
    type,
    ['Batch', 'Heads', 'Queries', 'Keys'].map((axis) => `${name}${axis}`),
  );

/** Returns the rows (B,G,1,D) to append to keys or values. */
function appendedRows(graph: OnnxGraph, keys: string, { kvHeads, width, zero }: Form, learned: Parameter | undefined) {
  const shape = graph.op('Concat', [graph.size(keys, 0), graph.ints(kvHeads, 1), graph.size(keys, 3)], { axis: 0 });
  const rows = [];
  if (learned) rows.push(graph.reshape(tensor(graph, learned), 1, kvHeads, 1, width as number));
  if (zero) rows.push(graph.float(0));
  return rows.map((row) => graph.op('Expand', [row, shape]));
}
