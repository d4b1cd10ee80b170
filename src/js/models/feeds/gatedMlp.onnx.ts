// The ONNX form of the feed-forward with a gate.

import type { ComponentForm } from '../../onnx/components.ts';
import { activate } from '../../onnx/operators.ts';
import { down } from './mlp.onnx.ts';

export const gatedMlpForm: ComponentForm = {
  build(stack, at, _, x) {
    const { graph, options } = stack;
    const up = stack.linear(at('up'), x);
    const gate = activate(graph, stack.linear(at('gate'), x), options.activation);
    return down(stack, at, graph.op('Mul', [gate, up]));
  },
};
