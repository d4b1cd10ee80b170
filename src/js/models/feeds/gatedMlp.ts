// The feed-forward down(activation(gate(x)) · up(x)).

import type { Component } from '../component.ts';
import { linear } from '../layerShapes.ts';
import { down, upAndDown } from './mlp.ts';

export const gatedMlp: Component = {
  name: 'gatedMlp',
  parameters: (at, options) => [
    linear(`${at}.gate`, options.mlp, options.dModel, options.bias.mlp),
    ...upAndDown(at, options),
  ],
  forward(run, at, _, x) {
    const up = run.linear(at('up'), x);
    return down(run, at, run.graph.gated(run.linear(at('gate'), x), up, run.options.activation));
  },
};
