// Runs a transformer with some edges of its graph cut. A cut edge replaces the contribution of its source to the input
// of its target by another value.

import { checkOptions, readWord } from '../../check/arguments.ts';
import { argumentError, shapeError } from '../../check/errors.ts';
import { formatShape, sameShape } from '../../check/shape.ts';
import { readTensorLike, type TensorLike } from '../../check/tensorlike.ts';
import type { ValueName } from '../../models/valueName.ts';
import { type Model, type Numbers, parametersOf } from '../arrays.ts';
import { capturedBy, type PatchedModel } from '../patching/pairs.ts';
import { type Progress, readSteps } from '../steps.ts';
import { contributionsOf, type Edges, edgesOf, inputOf, type Node, partOf } from './edges.ts';

/** The mean contribution of each source over all tokens of some sequences. means (U,C) */
export type Contributions = { sources: Node[]; means: Numbers };
/**
 * The value that a cut edge carries: zero, or its source's contribution in a run of equal length, or its mean
 * contribution.
 */
export type Cut = 'zero' | { run: any } | { mean: Contributions };
/** All connections of a model. edges: (U,V) for U sources and V targets, 1 where a source can reach a target. */
export type EdgeGraph = { sources: Node[]; targets: Node[]; edges: Numbers };
/** cut: default 'zero' */
export type RunEdgesOptions = { cut?: Cut; capture?: readonly ValueName[] };
/**
 * Values (T,C) of cut edges. rows: by source; streams: by target, its input if all its edges are cut, biases included.
 */
export type Off = { rows: Float32Array[]; streams: Float32Array[] };

/** Returns the graph of a decoder with norms before attention and feed-forward. edges (U,V): 1 if there is an edge. */
export function edgeGraph(model: Model): EdgeGraph {
  const { sources, targets, before } = edgesOf('edgeGraph', model);
  const data = new Float32Array(sources.length * targets.length).map((_, i) =>
    Number(Math.floor(i / targets.length) < before(i % targets.length)),
  );
  return { sources, targets, edges: { data, shape: [sources.length, targets.length] } };
}

/**
 * Measures mean contributions of all sources over the tokens of sequences (inputs of forward), for the cut edges of
 * runEdges.
 */
export async function meanContributions(
  model: PatchedModel,
  sequences: readonly any[],
  options: { onProgress?: (progress: Progress) => unknown; signal?: AbortSignal } = {},
): Promise<Contributions> {
  const caller = 'meanContributions';
  checkOptions(caller, options, ['onProgress', 'signal']);
  const steps = readSteps(caller, options);
  const { sources, capture } = edgesOf(caller, model);
  const read = contributionsOf(caller, model);
  if (!Array.isArray(sequences) || sequences.length === 0)
    throw argumentError(caller, 'sequences', sequences, 'a list of inputs, at least one');
  steps.check();
  const width = model.options.dModel;
  const sums = new Float64Array(sources.length * width);
  let tokens = 0;
  for (const [i, sequence] of sequences.entries()) {
    await steps.run(() => {
      const values = capturedBy(caller, model, sequence, capture);
      checkSingle(caller, `sequences[${i}]`, values.embed);
      tokens += values.embed.shape[1];
      sources.forEach((source, u) => {
        const rows = read(source, values);
        for (let at = 0; at < rows.length; at++) sums[u * width + (at % width)] += rows[at];
      });
    });
    await steps.report({ done: i + 1, total: sequences.length });
  }
  const data = Float32Array.from(sums, (sum) => sum / tokens);
  return { sources, means: { data, shape: [sources.length, width] } };
}

/**
 * Runs an input with some edges active and all others cut. With all edges active, the result is that of forward. With
 * none, each target reads the sum of the values of cut edges.
 * @param model a decoder with norms before attention and feed-forward
 * @param active (U,V) in the order of edgeGraph: 0 cuts an edge
 */
export function runEdges<M extends PatchedModel>(
  model: M,
  input: any,
  active: TensorLike,
  options: RunEdgesOptions = {},
): ReturnType<M['forward']> {
  const caller = 'runEdges';
  checkOptions(caller, options, ['cut', 'capture']);
  const edges = edgesOf(caller, model);
  const { cut = 'zero', capture = [] } = options;
  const source = readTensorLike(active, caller, 'active');
  const shape = [edges.sources.length, edges.targets.length];
  if (!sameShape(source.shape, shape)) throw shapeError(caller, 'active', source.shape, formatShape(shape));
  const mask = Uint8Array.from(source.floats(), (x) => Number(x !== 0));
  const { embed } = capturedBy(caller, model, input, ['embed']);
  checkSingle(caller, 'input', embed);
  const off = offOf(caller, model, edges, cut, embed);
  return runActive(caller, model, edges, input, mask, off, capture) as ReturnType<M['forward']>;
}

export function checkSingle(caller: string, parameter: string, { shape }: Numbers) {
  if (shape[0] !== 1) throw shapeError(caller, parameter, shape, 'one sequence, so that embed has a batch axis of 1');
}

/** Returns the values of cut edges. embed: (1,T,C) of the run with cut edges. */
export function offOf(caller: string, model: PatchedModel, edges: Edges, cut: Cut, embed: Numbers): Off {
  const { sources, capture } = edges;
  const [, tokens, width] = embed.shape;
  if (typeof cut === 'object' && cut !== null && 'run' in cut) {
    const values = capturedBy(caller, model, cut.run, capture);
    const read = contributionsOf(caller, model);
    if (!sameShape(values.embed.shape, embed.shape))
      throw shapeError(caller, 'cut.run', values.embed.shape, `${formatShape(embed.shape)}, the shape of embed`);
    return withStreams(
      caller,
      model,
      edges,
      sources.map((source) => read(source, values)),
    );
  }
  if (typeof cut === 'object' && cut !== null && 'mean' in cut) {
    const { data, shape } = cut.mean?.means ?? { data: [], shape: [] };
    const expected = [sources.length, width];
    if (!sameShape(shape, expected)) throw shapeError(caller, 'cut.mean', shape, formatShape(expected));
    const repeated = sources.map((_, u) =>
      Float32Array.from({ length: tokens * width }, (_, i) => data[u * width + (i % width)]),
    );
    return withStreams(caller, model, edges, repeated);
  }
  readWord(caller, 'cut', cut, ['zero']);
  const zeros = new Float32Array(tokens * width);
  return withStreams(caller, model, edges, new Array(sources.length).fill(zeros));
}

function withStreams(
  caller: string,
  model: PatchedModel,
  { sources, targets, before }: Edges,
  rows: Float32Array[],
): Off {
  const { vector } = parametersOf(caller, model);
  const { residualScale = 1 } = model.options;
  const counts = targets.map((_, v) => before(v));
  const sum = new Float64Array(rows[0].length);
  const add = (x: ArrayLike<number>) => sum.forEach((s, i) => void (sum[i] = s + x[i % x.length]));
  /** Sums of the values of the first sources, by the number of sources. */
  const sums: Map<number, Float32Array> = new Map();
  sources.forEach(({ kind, layer, head }, u) => {
    add(rows[u]);
    const bias = kind === 'head' && head === 0 && vector(`blocks.${layer}.attention.bo`);
    const factors = vector(`blocks.${layer}.scale1`);
    if (bias) add(Float64Array.from(bias, (x, c) => x * (factors?.[c] ?? 1) * residualScale));
    if (counts.includes(u + 1)) sums.set(u + 1, Float32Array.from(sum));
  });
  return { rows, streams: counts.map((count) => sums.get(count) as Float32Array) };
}

export function runActive(
  caller: string,
  model: PatchedModel,
  edges: Edges,
  input: any,
  active: Uint8Array,
  off: Off,
  capture: readonly string[] = [],
) {
  const { sources, targets } = edges;
  const changes = new Changes(caller, model, sources, off);
  /** The targets with a cut edge, by the name of their input. */
  const cut: Map<string, number[]> = new Map();
  targets.forEach((target, v) => {
    const { at } = inputOf(target, model.options.layers);
    const whole = Array.from({ length: edges.before(v) }, (_, u) => active[u * targets.length + v]).every(Boolean);
    if (!whole) cut.set(at, [...(cut.get(at) ?? []), v]);
  });
  const reads = [...cut].map(([at, list]) => ({
    at,
    change({ data, shape }: Numbers) {
      for (const v of list) setInput(edges, active, off, changes, v, partOf({ data, shape }, targets[v]));
      return { data, shape };
    },
  }));
  return model.forward(input, {
    capture: [...capture],
    edit: cut.size > 0 ? [...changes.edits(edges.capture), ...reads] : [],
  });
}

/**
 * Sets the input of a target (T,C): adds changes of active edges to the input with all edges cut, or subtracts changes
 * of cut edges from the input in this run, whichever are fewer.
 */
function setInput(
  { targets, before }: Edges,
  active: Uint8Array,
  off: Off,
  changes: Changes,
  v: number,
  x: Float32Array,
) {
  const all = Array.from({ length: before(v) }, (_, u) => u);
  const [on, cut] = [1, 0].map((state) => all.filter((u) => Number(active[u * targets.length + v] !== 0) === state));
  const [list, sign] = on.length < cut.length ? [on, 1] : [cut, -1];
  const sum = Float64Array.from(sign > 0 ? off.streams[v] : x);
  for (const u of list) changes.of(u).forEach((change, i) => void (sum[i] += sign * change));
  x.set(sum);
}

/** Contributions of the sources in a run, minus the values of cut edges. */
class Changes {
  #read: (source: Node, values: Readonly<Record<string, Numbers>>) => Float32Array;
  #sources: readonly Node[];
  #off: Off;
  #values: Record<string, Numbers> = {};
  #made: Map<number, Float32Array> = new Map();

  constructor(caller: string, model: PatchedModel, sources: readonly Node[], off: Off) {
    this.#read = contributionsOf(caller, model);
    this.#sources = sources;
    this.#off = off;
  }

  /** Returns edits that change nothing, but store the values during the run. */
  edits(names: readonly string[]) {
    return names.map((at) => ({
      at,
      change: (value: Numbers, name: string) => {
        this.#values[name] = value;
      },
    }));
  }

  /** Returns the change (T,C) of a source. u: index of the source, which has been computed. */
  of(u: number) {
    let change = this.#made.get(u);
    if (!change) {
      const rows = this.#off.rows[u];
      change = this.#read(this.#sources[u], this.#values).map((x, i) => x - rows[i]);
      this.#made.set(u, change);
    }
    return change;
  }
}
