// The parameters of one stack of a transformer, and the layers that use them.

import { parameterName } from '../models/parameters.js';
import { layerNorm, linear, rmsNorm } from './operators.js';

/** @import { Resolved } from '../models/options.js' */
/** @import { OnnxGraph } from './graph.js' */
/** @import { Value } from './operators.js' */

/**
 * Parts of a graph that the stacks of the graph share.
 * @typedef {object} Shared
 * @property {OnnxGraph} graph
 * @property {(name: string) => Value | undefined} weightOf returns a parameter by its name in the state dict
 * @property {(name: string) => boolean} captures returns true if an intermediate value is an output
 */

export class Parameters {
  #shared;

  /**
   * @param {Shared} shared
   * @param {Resolved} options
   * @param {string} prefix prefix of the names of the stack's parameters
   */
  constructor(shared, options, prefix) {
    this.#shared = shared;
    this.graph = shared.graph;
    this.options = options;
    this.prefix = prefix;
  }

  /** @param {string} name @returns {Value | undefined} */
  weight(name) {
    return this.#shared.weightOf(this.prefix + parameterName(this.options, name));
  }

  /** @param {string} name @returns {Value} */
  needed(name) {
    return /** @type {Value} */ (this.weight(name));
  }

  /** The embedding table of the decoder, which the encoder uses too if the model shares it. @returns {Value} */
  get sharedTable() {
    return /** @type {Value} */ (this.#shared.weightOf('embedding.table'));
  }

  /**
   * @param {string} name name of a layer, or of a weight whose bias has another name
   * @param {Value} x
   * @param {string} [bias]
   */
  linear(name, x, bias) {
    const weight = this.weight(`${name}.weight`) ?? this.needed(name);
    return linear(this.graph, x, weight, this.weight(bias ?? `${name}.bias`));
  }

  /** Applies a norm, if the model has this norm. @param {string} name @param {Value} x */
  norm(name, x) {
    const weight = this.weight(`${name}.weight`);
    const { norm, normEps } = this.options;
    if (!weight) return x;
    return norm === 'layer'
      ? layerNorm(this.graph, x, weight, this.weight(`${name}.bias`), normEps)
      : rmsNorm(this.graph, x, weight, normEps);
  }

  /** Multiplies each channel by its factor, if the model has such factors. @param {string} name @param {Value} x */
  scaled(name, x) {
    return this.options.layerScale ? this.graph.op('Mul', [x, this.needed(name)]) : x;
  }

  /** @param {string} name */
  captures(name) {
    return this.#shared.captures(this.prefix + name);
  }
}
