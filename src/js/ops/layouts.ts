// Reads and writes the weights of a multi-head layer in other libraries' layouts, by the same descriptions.

import { checkNames, readRecord } from '../check/arguments.ts';
import { argumentError, HeadlightError, shapeError } from '../check/errors.ts';
import { elementCount, formatShape, sameShape } from '../check/shape.ts';
import type { TensorLike } from '../check/tensorlike.ts';
import { checkAlive, shapeOf, touch, viewOf } from '../memory/tensor.ts';
import { findLayer, fusedRow, nameOf } from './foreign.ts';

import type { MultiHeadAttention } from './multihead.ts';
import type { ParameterName } from './multiheadParameters.ts';
import { readArray, type StateEntry } from './state.ts';

export type Layout = 'headlight' | 'torch' | 'd2l' | 'keras' | 'keras-layer' | 'bert' | 'linear';
/** A named array of a layout. parts: the parameters that are stacked in it, as (out, in) or transposed to (in, out). */
export type Entry = { name: string; shape: readonly number[]; parts: ParameterName[]; transposed?: boolean };

/** Layouts with one weight and one bias for each projection, with the names of the projections. */
const PROJECTIONS = {
  d2l: { names: ['W_q', 'W_k', 'W_v', 'W_o'], weight: 'weight', transposed: false, split: false },
  keras: { names: ['wq', 'wk', 'wv', 'w'], weight: 'kernel', transposed: true, split: false },
  'keras-layer': {
    names: ['query', 'key', 'value', 'attention_output'],
    weight: 'kernel',
    transposed: true,
    split: true,
  },
  bert: { names: ['query', 'key', 'value', 'dense'], weight: 'weight', transposed: false, split: false },
  linear: { names: ['q_linear', 'k_linear', 'v_linear', 'out'], weight: 'weight', transposed: false, split: false },
};

const LAYOUTS: readonly Layout[] = ['headlight', 'torch', 'd2l', 'keras', 'keras-layer', 'bert', 'linear'];

function headlightEntries({ parameters }: MultiHeadAttention): Entry[] {
  return Object.entries(parameters).map(([name, tensor]) => ({
    name,
    shape: shapeOf(tensor),
    parts: [name as ParameterName],
  }));
}

/**
 * One stacked weight if all inputs have the layer's width, else three. Returns the arrays of nn.MultiheadAttention, or
 * the reason why it cannot represent the layer.
 */
function torchEntries({ options, parameters }: MultiHeadAttention): Entry[] | string {
  const { embedDim: width, numHeads, kvHeads, headDim, queryDim, keyDim, valueDim } = options;
  if (!parameters.wo) return 'it requires an output projection';
  if (kvHeads !== numHeads) return 'it requires kvHeads = numHeads';
  if (numHeads * headDim !== width || queryDim !== width)
    return 'it requires queryDim = embedDim and numHeads · headDim = embedDim';
  const entries: Entry[] = [];
  if (keyDim === width && valueDim === width)
    entries.push({ name: 'in_proj_weight', shape: [3 * width, width], parts: ['wq', 'wk', 'wv'] });
  else {
    entries.push({ name: 'q_proj_weight', shape: [width, queryDim], parts: ['wq'] });
    entries.push({ name: 'k_proj_weight', shape: [width, keyDim], parts: ['wk'] });
    entries.push({ name: 'v_proj_weight', shape: [width, valueDim], parts: ['wv'] });
  }
  if (parameters.bq) entries.push({ name: 'in_proj_bias', shape: [3 * width], parts: ['bq', 'bk', 'bv'] });
  if (parameters.biasK) {
    entries.push({ name: 'bias_k', shape: [1, 1, width], parts: ['biasK'] });
    entries.push({ name: 'bias_v', shape: [1, 1, width], parts: ['biasV'] });
  }
  entries.push({ name: 'out_proj.weight', shape: [width, width], parts: ['wo'] });
  if (parameters.bo) entries.push({ name: 'out_proj.bias', shape: [width], parts: ['bo'] });
  return entries;
}

function projectionEntries(
  { options, parameters }: MultiHeadAttention,
  { names, weight, transposed, split }: (typeof PROJECTIONS)[keyof typeof PROJECTIONS],
): Entry[] | string {
  if (parameters.biasK) return 'it does not support biasKV';
  const heads = [options.numHeads, options.kvHeads, options.kvHeads];
  return ['q', 'k', 'v', 'o'].flatMap((letter, i) => {
    const [w, b] = [`w${letter}`, `b${letter}`] as ParameterName[];
    const [matrix, vector] = [parameters[w], parameters[b]];
    if (!matrix) return [];
    const [out, inside] = shapeOf(matrix);
    const outs = split && letter !== 'o' ? [heads[i], options.headDim] : [out];
    const ins = split && letter === 'o' ? [options.numHeads, options.headDim] : [inside];
    const entries: Entry[] = [
      {
        name: `${names[i]}.${weight}`,
        shape: transposed ? [...ins, ...outs] : [...outs, ...ins],
        parts: [w],
        transposed,
      },
    ];
    if (vector) entries.push({ name: `${names[i]}.bias`, shape: outs, parts: [b] });
    return entries;
  });
}

function entriesOf(layer: MultiHeadAttention, layout: Layout): Entry[] | string {
  if (layout === 'headlight') return headlightEntries(layer);
  return layout === 'torch' ? torchEntries(layer) : projectionEntries(layer, PROJECTIONS[layout]);
}

function requireEntries(caller: string, layer: MultiHeadAttention, layout: Layout) {
  if (!LAYOUTS.includes(layout)) throw argumentError(caller, 'layout', layout, LAYOUTS.join(', '));
  const entries = entriesOf(layer, layout);
  if (typeof entries !== 'string') return entries;
  throw new HeadlightError('ARGUMENT', `${caller}: this layer has no '${layout}' layout: ${entries}`, {
    parameter: 'layout',
    got: layout,
  });
}

/** from: (rows,columns) */
function transpose(from: Float32Array, rows: number, columns: number) {
  const to = new Float32Array(from.length);
  for (let r = 0; r < rows; r++) for (let c = 0; c < columns; c++) to[c * rows + r] = from[r * columns + c];
  return to;
}

export function writeState(layer: MultiHeadAttention, layout: Layout): Record<string, StateEntry> {
  checkAlive(layer.parameters, 'stateDict', 'parameters');
  const state: Record<string, StateEntry> = {};
  for (const { name, shape, parts, transposed } of requireEntries('stateDict', layer, layout)) {
    const data = new Float32Array(elementCount(shape));
    let at = 0;
    for (const part of parts) {
      const tensor = layer.parameters[part] as NonNullable<(typeof layer.parameters)[typeof part]>;
      const values = viewOf(tensor);
      const [rows, columns] = shapeOf(tensor);
      data.set(transposed ? transpose(values, rows, columns) : values, at);
      at += values.length;
    }
    state[name] = { data, shape: [...shape] };
  }
  return state;
}

/** Returns the layout that has exactly these names. If there is none, returns the layout that has the most of them. */
function findLayout(layer: MultiHeadAttention, names: string[]) {
  let best = { layout: 'headlight', score: -1 } as { layout: Layout; score: number };
  for (const layout of LAYOUTS) {
    const entries = entriesOf(layer, layout);
    if (typeof entries === 'string') continue;
    const shared = entries.filter(({ name }) => names.includes(name)).length;
    const score = shared === entries.length && shared === names.length ? Infinity : shared;
    if (score > best.score) best = { layout, score };
  }
  return best;
}

/** Converts one layer to the 'headlight' layout, ignoring other tensors; undefined without known names. */
function fromCheckpoint(
  { options, parameters }: MultiHeadAttention,
  given: Map<string, unknown>,
  prefix?: string,
): Record<string, TensorLike> | undefined {
  const caller = 'loadStateDict';
  const found = findLayer(caller, [...given.keys()], prefix);
  if (!found) return undefined;
  const { form } = found;
  const { numHeads, kvHeads, headDim } = options;
  const sizes = [numHeads * headDim, kvHeads * headDim, kvHeads * headDim];
  const { buffer } = viewOf(parameters.wq);
  const dict: Record<string, TensorLike> = {};
  for (const [i, letter] of ['q', 'k', 'v', 'o'].entries()) {
    const separate = form[letter as 'q'] as string | undefined;
    const stored = separate ?? (form.all as string);
    for (const part of ['weight', 'bias'] as const) {
      const name = found.prefix + nameOf(stored, part);
      const value = given.get(name);
      if (value === undefined) continue;
      const { shape, floats } = readArray(caller, name, value, buffer);
      const transposed = part === 'weight' && form.transposed;
      const [rows, width] = transposed ? [shape[1], shape[0]] : [shape[0], shape.length > 1 ? shape[1] : 1];
      const data = transposed ? transpose(floats, shape[0], shape[1]) : floats;
      const isFused = separate === undefined;
      if (isFused && rows !== sizes.reduce((a, b) => a + b, 0))
        throw shapeError(caller, name, shape, `${sizes.join(' + ')} rows of q, k and v`);
      const count = isFused ? sizes[i] : rows;
      const at = isFused ? fusedRow(form.fused ?? 'rows', i, { headDim, sizes }) : (row: number) => row;
      const rowsOf = new Float32Array(count * width);
      for (let row = 0; row < count; row++)
        rowsOf.set(data.subarray(at(row) * width, (at(row) + 1) * width), row * width);
      dict[`${part === 'weight' ? 'w' : 'b'}${letter}`] = {
        data: rowsOf,
        shape: part === 'weight' ? [count, width] : [count],
      };
    }
  }
  return dict;
}

/**
 * Validates all names and shapes first. layout: a layout, or the prefix of one layer of a checkpoint; default: by the
 * names.
 */
export function readState(
  layer: MultiHeadAttention,
  dict: Record<string, TensorLike>,
  layout?: Layout | { prefix?: string },
) {
  const caller = 'loadStateDict';
  const record = readRecord(caller, 'dict', dict, 'an object of named tensors');
  checkAlive(layer.parameters, caller, 'parameters');
  const prefix = typeof layout === 'object' && layout !== null ? layout.prefix : undefined;
  const own = findLayout(layer, [...record.keys()]);
  const isOwn = typeof layout === 'string' || (prefix === undefined && own.score === Infinity);
  const renamed = isOwn ? undefined : fromCheckpoint(layer, record, prefix);
  if (prefix !== undefined && !renamed)
    throw argumentError(caller, 'layout.prefix', prefix, 'a prefix of the names of an attention layer');
  const given = renamed ? new Map(Object.entries(renamed)) : record;
  const names = [...given.keys()];
  const chosen = renamed ? 'headlight' : typeof layout === 'string' ? layout : own.layout;
  const entries = requireEntries(caller, layer, chosen);
  const described = entries.map(({ name, shape }) => `${name} ${formatShape(shape)}`).join(', ');
  const hint = `; the '${chosen}' layout of this layer is ${described}`;
  checkNames(
    caller,
    names,
    entries.map(({ name }) => name),
    hint,
  );
  checkAlive(layer.parameters, caller, 'parameters');
  const { buffer } = viewOf(layer.parameters.wq);
  const sources = entries.map((entry) => {
    const { shape, floats } = readArray(caller, entry.name, given.get(entry.name), buffer);
    if (!sameShape(shape, entry.shape)) throw shapeError(caller, entry.name, shape, formatShape(entry.shape));
    return { ...entry, data: floats };
  });
  checkAlive(layer.parameters, caller, 'parameters');
  for (const { parts, transposed, data } of sources) {
    let at = 0;
    for (const part of parts) {
      const tensor = layer.parameters[part] as NonNullable<(typeof layer.parameters)[typeof part]>;
      const values = viewOf(tensor);
      const [rows, columns] = shapeOf(tensor);
      const piece = data.subarray(at, at + values.length);
      values.set(transposed ? transpose(piece, columns, rows) : piece);
      touch(tensor);
      at += values.length;
    }
  }
}
