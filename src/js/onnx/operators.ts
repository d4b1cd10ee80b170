// Linear layers, norms and activations as ONNX operators. Gelu requires opset 20 and RMSNormalization opset 23; for
// lower opsets, they are composed of other operators.

import type { ActivationKind } from '../ops/activation.ts';
import type { OnnxGraph } from './graph.ts';

/** The name of a value in the graph. */
export type Value = string;

const ROOT_HALF = Math.SQRT1_2;
const ROOT_2_OVER_PI = Math.sqrt(2 / Math.PI);
const CUBE = 0.044715;
const QUICK = 1.702;

/**
 * Computes x · weightᵀ + bias over the last axis. The weight is stored as in the state dict, (out, in).
 * @param weight (out, in)
 */
export function linear(graph: OnnxGraph, x: Value, weight: Value, bias?: Value) {
  const product = graph.op('MatMul', [x, graph.op('Transpose', [weight], { perm: [1, 0] })]);
  return bias ? graph.op('Add', [product, bias]) : product;
}

/** Normalizes over the last axis. */
export function layerNorm(graph: OnnxGraph, x: Value, weight: Value, bias: Value | undefined, eps: number) {
  return graph.op('LayerNormalization', bias ? [x, weight, bias] : [x, weight], { axis: -1, epsilon: eps });
}

/** Normalizes over the last axis. */
export function rmsNorm(graph: OnnxGraph, x: Value, weight: Value, eps: number) {
  if (graph.opset >= 23) return graph.op('RMSNormalization', [x, weight], { axis: -1, epsilon: eps });
  const squares = graph.reduce('ReduceMean', graph.op('Mul', [x, x]), [-1]);
  const root = graph.op('Sqrt', [graph.op('Add', [squares, graph.float(eps)])]);
  return graph.op('Mul', [graph.op('Div', [x, root]), weight]);
}

export const times = (graph: OnnxGraph, x: Value, factor: number) =>
  factor === 1 ? x : graph.op('Mul', [x, graph.float(factor)]);

/** Returns cap · tanh(x / cap). */
export const softcap = (graph: OnnxGraph, x: Value, cap: number) =>
  times(graph, graph.op('Tanh', [times(graph, x, 1 / cap)]), cap);

/** Returns x · σ(rate · x). */
const sigmoidLinear = (graph: OnnxGraph, x: Value, rate: number) =>
  graph.op('Mul', [x, graph.op('Sigmoid', [times(graph, x, rate)])]);

/** Returns x · ½ (1 + y). */
const halved = (graph: OnnxGraph, x: Value, y: Value) =>
  graph.op('Mul', [times(graph, x, 0.5), graph.op('Add', [y, graph.float(1)])]);

const ACTIVATIONS: Record<ActivationKind, (graph: OnnxGraph, x: Value) => Value> = {
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

export const activate = (graph: OnnxGraph, x: Value, name: ActivationKind) => ACTIVATIONS[name](graph, x);

/**
 * Splits (B,N,heads·D) to (B,heads,N,D).
 * @param width D, or −1 to infer it
 */
export function splitHeads(graph: OnnxGraph, x: Value, heads: number, width: number) {
  return graph.op('Transpose', [graph.reshape(x, 0, 0, heads, width)], { perm: [0, 2, 1, 3] });
}

/**
 * Joins (B,heads,N,D) to (B,N,heads·D).
 * @param channels heads·D, or −1 to infer it
 */
export function joinHeads(graph: OnnxGraph, x: Value, channels: number) {
  return graph.reshape(graph.op('Transpose', [x], { perm: [0, 2, 1, 3] }), 0, 0, channels);
}
