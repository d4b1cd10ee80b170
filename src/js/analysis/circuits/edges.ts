// The graph of a transformer (Elhage et al. 2021, "A Mathematical Framework for Transformer Circuits"): sources add to
// the residual stream, targets read from it, and each source has an edge to every later target.

import { HeadlightError } from '../../check/errors.ts';
import type { Component } from '../../models/component.ts';
import type { Resolved } from '../../models/options.ts';
import { parameterName } from '../../models/parameters.ts';
import { componentsOf, sublayersOf } from '../../models/sublayers.ts';
import { type Model, type Numbers, type Parameter, parametersOf, requireModel, scaleRows } from '../arrays.ts';
import { ATTRIBUTIONS } from '../components.ts';

/**
 * A source or a target. query, key and value are inputs of one head (of a key head for key and value). logits is the
 * input of the last norm; its layer is the number of blocks.
 */
export type Node = {
  kind: 'embed' | 'head' | 'mlp' | 'query' | 'key' | 'value' | 'logits';
  layer?: number | undefined;
  head?: number | undefined;
};
export type Edges = {
  /** embed; then for each block its heads and its feed-forward */
  sources: Node[];
  /** for each block its queries, keys, values and its feed-forward; logits last */
  targets: Node[];
  /** returns the number n of sources with an edge to a target, which are the first n */
  before: (target: number) => number;
  groupOf: (head: number) => number;
  capture: string[];
  inputs: string[];
};

export function edgesOf(caller: string, model: Model): Edges {
  requireModel(caller, model);
  const { options } = model;
  const { layers, numHeads, kvHeads = numHeads, normPlace = 'before', cross } = options;
  const refuse = (cause: string) =>
    new HeadlightError('ARGUMENT', `${caller}: ${cause}, so that its parts do not add up in the residual stream`, {
      parameter: 'model',
      expected: 'a decoder with norms before attention and feed-forward',
    });
  if (normPlace !== 'before' && normPlace !== 'parallel') throw refuse(`normPlace of this model is '${normPlace}'`);
  if (cross) throw refuse('this model attends to an encoder');
  const sources: Node[] = [{ kind: 'embed' }];
  const targets: Node[] = [];
  /** The number of sources before each target. */
  const counts: number[] = [];
  const read = (target: Node, count: number) => {
    targets.push(target);
    counts.push(count);
  };
  for (let layer = 0; layer < layers; layer++) {
    const start = sources.length;
    for (const { component } of sublayersOf(options as Resolved, layer)) {
      const count = normPlace === 'parallel' ? start : sources.length;
      const { inputs, outputs } = nodesOf(component, layer, numHeads, kvHeads);
      for (const input of inputs) read(input, count);
      sources.push(...outputs);
    }
  }
  read({ kind: 'logits', layer: layers }, sources.length);
  const before = (v: number) => counts[v];
  const inputs = [...new Set(targets.map((target) => inputOf(target, layers).at))];
  const groupOf = (head: number) => Math.floor((head * kvHeads) / numHeads);
  return {
    sources,
    targets,
    before,
    groupOf,
    capture: [
      'embed',
      ...[...componentsOf(options as Resolved)].map(({ name }) => `blocks.*.${ATTRIBUTIONS[name].value}`),
    ],
    inputs,
  };
}

/** Returns the targets and the sources of a component in a block. */
function nodesOf({ name }: Component, layer: number, numHeads: number, kvHeads: number) {
  const each = (kind: Node['kind'], count: number): Node[] =>
    Array.from({ length: count }, (_, head) => ({ kind, layer, head }));
  if (ATTRIBUTIONS[name].kind !== 'heads')
    return { inputs: [{ kind: 'mlp', layer }], outputs: [{ kind: 'mlp', layer }] } as const;
  return {
    inputs: [...each('query', numHeads), ...each('key', kvHeads), ...each('value', kvHeads)],
    outputs: each('head', numHeads),
  };
}

/** Returns the name of a target's input, and its head if there is one, in the form of an edit. */
export function inputOf({ kind, layer, head }: Node, layers: number) {
  if (kind === 'logits') return { at: layers === 0 ? 'embed' : `blocks.${layers - 1}.out` };
  return { at: `blocks.${layer}.${kind}.in`, ...(head !== undefined && { head }) };
}

/** Returns the values of a node: those of its head in an array (1,heads,T,C), or the whole array (1,T,C). */
export function partOf({ data, shape }: Numbers, { head }: Node) {
  if (head === undefined) return data;
  const size = shape[2] * shape[3];
  return data.subarray(head * size, (head + 1) * size);
}

/**
 * Returns a function from the values of one sequence to the contribution (T,C) of a source to the residual stream. That
 * of a head has no bias.
 */
export function contributionsOf(
  caller: string,
  model: Model,
): (source: Node, values: Readonly<Record<string, Numbers>>) => Float32Array {
  const { parameters } = model;
  const { vector } = parametersOf(caller, model);
  const { residualScale = 1 } = model.options;
  const projections: Map<number, Parameter> = new Map();
  const projectionOf = (layer: number) => {
    const name = parameterName(model.options, `blocks.${layer}.attention.wo`);
    const read = () => scaleRows(parameters[name] ?? readMatrix(caller, model, name), vector(`blocks.${layer}.scale1`));
    const found = projections.get(layer) ?? read();
    projections.set(layer, found);
    return found;
  };
  return ({ kind, layer = 0, head = 0 }, values) => {
    if (kind === 'embed') return values.embed.data;
    if (kind === 'mlp') return values[`blocks.${layer}.mlp`].data;
    const heads = values[`blocks.${layer}.heads`];
    return project(partOf(heads, { kind, head }), heads.shape[3], projectionOf(layer), head, residualScale);
  };
}

/** Returns an output projection in float32. It has as many rows as the residual stream has channels. */
function readMatrix(caller: string, model: Model, name: string): Parameter {
  const data = model.valuesOf?.(name, caller);
  if (!data) return parametersOf(caller, model).matrix(name);
  return { data, shape: [model.options.dModel, data.length / model.options.dModel] };
}

/** Multiplies the output of a head (T,D) by its columns of the output projection (C,H·D). Returns (T,C). width: D. */
function project(
  x: Float32Array,
  width: number,
  { data, shape }: { data: Float32Array; shape: readonly number[] },
  head: number,
  factor: number,
) {
  const [channels, columns] = shape;
  const y = new Float32Array((x.length / width) * channels);
  for (let t = 0; t < x.length / width; t++)
    for (let c = 0; c < channels; c++) {
      let sum = 0;
      for (let d = 0; d < width; d++) sum += x[t * width + d] * data[c * columns + head * width + d];
      y[t * channels + c] = sum * factor;
    }
  return y;
}
