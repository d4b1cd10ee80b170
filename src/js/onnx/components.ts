// The ONNX forms of the components of a block.

import type { At, ComponentName } from '../models/component.ts';
import { gatedMlpForm } from '../models/feeds/gatedMlp.onnx.ts';
import { mlpForm } from '../models/feeds/mlp.onnx.ts';
import { attentionForm } from '../models/mixers/attention.onnx.ts';
import { crossAttentionForm } from '../models/mixers/crossAttention.onnx.ts';
import { disentangledAttentionForm } from '../models/mixers/disentangled.onnx.ts';
import type { Value } from './operators.ts';
import type { Stack } from './stack.ts';

/** The same functions as in the type Component, with values of a graph. */
export type ComponentForm = {
  /** captures its values with stack.pass */
  build: (stack: Stack, at: At, i: number, x: Value) => Value;
  around?: (stack: Stack, i: number, input: Value, output: Value) => Value;
};

export const FORMS: Record<ComponentName, ComponentForm> = {
  attention: attentionForm,
  crossAttention: crossAttentionForm,
  disentangledAttention: disentangledAttentionForm,
  mlp: mlpForm,
  gatedMlp: gatedMlpForm,
};
