// Linear layers, norms and activations as ONNX operators. Gelu requires opset 20 and RMSNormalization opset 23; for
// lower opsets, they are composed of other operators.

/** @import { ActivationKind } from '../ops/activation.js' */
/** @import { OnnxGraph } from './graph.js' */

/** The name of a value in the graph. @typedef {string} Value */

const ROOT_HALF = Math.SQRT1_2;
const ROOT_2_OVER_PI = Math.sqrt(2 / Math.PI);
const CUBE = 0.044715;
const QUICK = 1.702;

/**
 * Computes x · weightᵀ + bias over the last axis. The weight is stored as in the state dict, (out, in).
 * @param {OnnxGraph} graph
 * @param {Value} x
 * @param {Value} weight (out, in)
 * @param {Value} [bias]
 */
export function linear(graph, x, weight, bias) {
  const product = graph.op('MatMul', [x, graph.op('Transpose', [weight], { perm: [1, 0] })]);
  return bias ? graph.op('Add', [product, bias]) : product;
}

/**
 * Normalizes over the last axis.
 * @param {OnnxGraph} graph
 * @param {Value} x
 * @param {Value} weight
 * @param {Value | undefined} bias
 * @param {number} eps
 */
export function layerNorm(graph, x, weight, bias, eps) {
  return graph.op('LayerNormalization', bias ? [x, weight, bias] : [x, weight], { axis: -1, epsilon: eps });
}

/**
 * Normalizes over the last axis.
 * @param {OnnxGraph} graph
 * @param {Value} x
 * @param {Value} weight
 * @param {number} eps
 */
export function rmsNorm(graph, x, weight, eps) {
  if (graph.opset >= 23) return graph.op('RMSNormalization', [x, weight], { axis: -1, epsilon: eps });
  const squares = graph.reduce('ReduceMean', graph.op('Mul', [x, x]), [-1]);
  const root = graph.op('Sqrt', [graph.op('Add', [squares, graph.float(eps)])]);
  return graph.op('Mul', [graph.op('Div', [x, root]), weight]);
}

/** @param {OnnxGraph} graph @param {Value} x @param {number} factor */
export const times = (graph, x, factor) => (factor === 1 ? x : graph.op('Mul', [x, graph.float(factor)]));

/** Returns cap · tanh(x / cap). @param {OnnxGraph} graph @param {Value} x @param {number} cap */
export const softcap = (graph, x, cap) => times(graph, graph.op('Tanh', [times(graph, x, 1 / cap)]), cap);

/** Returns x · σ(rate · x). @param {OnnxGraph} graph @param {Value} x @param {number} rate */
const sigmoidLinear = (graph, x, rate) => graph.op('Mul', [x, graph.op('Sigmoid', [times(graph, x, rate)])]);

/** Returns x · ½ (1 + y). @param {OnnxGraph} graph @param {Value} x @param {Value} y */
const halved = (graph, x, y) => graph.op('Mul', [times(graph, x, 0.5), graph.op('Add', [y, graph.float(1)])]);

/** @type {Record<ActivationKind, (graph: OnnxGraph, x: Value) => Value>} */
const ACTIVATIONS = {
  relu: (graph, x) => graph.op('Relu', [x]),
  tanh: (graph, x) => graph.op('Tanh', [x]),
  silu: (graph, x) => sigmoidLinear(graph, x, 1),
  'quick-gelu': (graph, x) => sigmoidLinear(graph, x, QUICK),
  gelu: (graph, x) =>
    graph.opset >= 20
      ? graph.op('Gelu', [x], { approximate: 'none' })
      : halved(graph, x, graph.op('Erf', [times(graph, x, ROOT_HALF)])),
  'gelu-tanh': (graph, x) => {
    if (graph.opset >= 20) return graph.op('Gelu', [x], { approximate: 'tanh' });
    const cube = times(graph, graph.op('Mul', [x, graph.op('Mul', [x, x])]), CUBE);
    return halved(graph, x, graph.op('Tanh', [times(graph, graph.op('Add', [x, cube]), ROOT_2_OVER_PI)]));
  },
};

/** @param {OnnxGraph} graph @param {Value} x @param {ActivationKind} name */
export const activate = (graph, x, name) => ACTIVATIONS[name](graph, x);

/**
 * Splits (B,N,heads·D) to (B,heads,N,D).
 * @param {OnnxGraph} graph
 * @param {Value} x
 * @param {number} heads
 * @param {number} width D, or −1 to infer it
 */
export function splitHeads(graph, x, heads, width) {
  return graph.op('Transpose', [graph.reshape(x, 0, 0, heads, width)], { perm: [0, 2, 1, 3] });
}

/**
 * Joins (B,heads,N,D) to (B,N,heads·D).
 * @param {OnnxGraph} graph
 * @param {Value} x
 * @param {number} channels heads·D, or −1 to infer it
 */
export function joinHeads(graph, x, channels) {
  return graph.reshape(graph.op('Transpose', [x], { perm: [0, 2, 1, 3] }), 0, 0, channels);
}
