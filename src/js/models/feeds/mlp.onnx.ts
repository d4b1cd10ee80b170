// The ONNX form of the feed-forward without a gate.

import type { ComponentForm } from '../../onnx/components.ts';
import { activate, type Value } from '../../onnx/operators.ts';
import type { Stack } from '../../onnx/stack.ts';
import type { At } from '../component.ts';

/** @param hidden (B,T,mlp) */
export const down = (stack: Stack, at: At, hidden: Value) =>
  stack.linear(at('down'), stack.passRows(at('hidden'), hidden, stack.options.mlp));

export const mlpForm: ComponentForm = {
  build: (stack, at, _, x) =>
    down(stack, at, activate(stack.graph, stack.linear(at('up'), x), stack.options.activation)),
};
