// The type of the components of a block: mixers, which mix tokens, and feeds, which compute each token alone.
//
// A component has four parts: its parameters, its forward pass, its ONNX form and its attribution. The first two are
// here. The others are in files next to the component, NAME.onnx.ts and NAME.attribution.ts, because most programs do
// not load them. The tables onnx/components.ts and analysis/components.ts list them by the name of the component.

import type { Tensor } from '../memory/tensor.ts';
import type { LayerShape } from './layerShapes.ts';
import type { Resolved } from './options.ts';
import type { Run } from './run.ts';

export type ComponentName = 'attention' | 'crossAttention' | 'disentangledAttention' | 'mlp' | 'gatedMlp';
/** Returns the full name for a name within a block: `blocks.0.hidden` for `hidden`. */
export type At = (name: string) => string;

export type Component = {
  name: ComponentName;
  /** @param at prefix of their names: `blocks.0` */
  parameters: (at: string, options: Resolved) => Iterable<LayerShape>;
  /** Returns the parameters that all blocks share. */
  shared?: (options: Resolved) => Iterable<LayerShape>;
  /** Computes what all blocks share, before the first block. */
  prepare?: (run: Run) => unknown;
  /**
   * Captures and edits its values with run.passRows and run.passHeads.
   * @param i index of the block
   * @param x (B,T,C), after the norm
   * @param stream (B,T,C), the residual stream, before the norm
   * @returns (B,T,C), before the norm and the factors of the output
   */
  forward: (run: Run, at: At, i: number, x: Tensor, stream: Tensor) => Tensor;
  /**
   * Changes the output of the whole block.
   * @param input of the block
   */
  around?: (run: Run, i: number, input: Tensor, output: Tensor) => Tensor;
};
