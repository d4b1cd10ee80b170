// The feed-forward down(activation(up(x))).

import type { Tensor } from '../../memory/tensor.ts';
import type { At, Component } from '../component.ts';
import { type LayerShape, linear } from '../layerShapes.ts';
import type { Resolved } from '../options.ts';
import type { Run } from '../run.ts';

/** Returns the two layers of a feed-forward without a gate. */
export const upAndDown = (at: string, { dModel: C, mlp, bias }: Resolved): LayerShape[] => [
  linear(`${at}.up`, mlp, C, bias.mlp),
  linear(`${at}.down`, C, mlp, bias.mlp),
];

/** @param hidden (B,T,mlp) */
export const down = (run: Run, at: At, hidden: Tensor) => run.linear(at('down'), run.passRows(at('hidden'), hidden));

export const mlp: Component = {
  name: 'mlp',
  parameters: upAndDown,
  forward: (run, at, _, x) => down(run, at, run.graph.activation(run.linear(at('up'), x), run.options.activation)),
};
