// The ONNX form of attention to the output of an encoder.

import type { ComponentForm } from '../../onnx/components.ts';
import type { Value } from '../../onnx/operators.ts';
import type { Parameters } from '../../onnx/parameters.ts';
import type { Across } from '../../onnx/stack.ts';
import { attendHeads, projectHeads } from './attendHeads.onnx.ts';

/** Computes the keys and values (B,G,S,D) of block i from the output of the encoder. */
export const pairAcross = (parameters: Parameters, i: number, encoded: Value) => ({
  key: projectHeads(parameters, `blocks.${i}.cross`, 'k', encoded),
  value: projectHeads(parameters, `blocks.${i}.cross`, 'v', encoded),
});

export const crossAttentionForm: ComponentForm = {
  build(stack, at, i, x) {
    const weights = at('cross');
    const across = stack.across as Across;
    const given = { query: projectHeads(stack, weights, 'q', x), ...across.pairs[i] };
    const heads = attendHeads(stack, at('cross.'), i, given, stack.visibleAcross(across), across.length);
    return stack.linear(`${weights}.wo`, heads, `${weights}.bo`);
  },
};
