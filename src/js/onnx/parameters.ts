// The parameters of one stack of a transformer, and the layers that use them.

import type { Resolved } from '../models/options.ts';
import { parameterName } from '../models/parameters.ts';
import type { OnnxGraph } from './graph.ts';
import { layerNorm, linear, rmsNorm, times, type Value } from './operators.ts';

/** Parts of a graph that the stacks of the graph share. */
export type Shared = {
  graph: OnnxGraph;
  /** returns a parameter by its name in the state dict */
  weightOf: (name: string) => Value | undefined;
  /** returns true if an intermediate value is an output */
  captures: (name: string) => boolean;
};

export class Parameters {
  declare graph: OnnxGraph;
  declare options: Resolved;
  declare prefix: string;

  #shared: Shared;

  /** @param prefix prefix of the names of the stack's parameters */
  constructor(shared: Shared, options: Resolved, prefix: string) {
    this.#shared = shared;
    this.graph = shared.graph;
    this.options = options;
    this.prefix = prefix;
  }

  weight(name: string): Value | undefined {
    return this.#shared.weightOf(this.prefix + parameterName(this.options, name));
  }

  needed(name: string): Value {
    return this.weight(name) as Value;
  }

  /** The embedding table of the decoder, which the encoder uses too if the model shares it. */
  get sharedTable(): Value {
    return this.#shared.weightOf('embedding.table') as Value;
  }

  /** @param name name of a layer, or of a weight whose bias has another name */
  linear(name: string, x: Value, bias?: string) {
    const weight = this.weight(`${name}.weight`) ?? this.needed(name);
    return linear(this.graph, x, weight, this.weight(bias ?? `${name}.bias`));
  }

  /** Applies a norm, if the model has this norm. */
  norm(name: string, x: Value) {
    const weight = this.weight(`${name}.weight`);
    const { norm, normEps } = this.options;
    if (!weight) return x;
    return norm === 'layer'
      ? layerNorm(this.graph, x, weight, this.weight(`${name}.bias`), normEps)
      : rmsNorm(this.graph, x, weight, normEps);
  }

  /** Multiplies each channel by its factor, if the model has such factors, and all channels by residualScale. */
  scaled(name: string | undefined, x: Value) {
    const { layerScale, residualScale } = this.options;
    return times(this.graph, name && layerScale ? this.graph.op('Mul', [x, this.needed(name)]) : x, residualScale);
  }

  captures(name: string) {
    return this.#shared.captures(this.prefix + name);
  }
}
