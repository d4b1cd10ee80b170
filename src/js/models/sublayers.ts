// The sublayers of a block. The run, the list of parameters, the ONNX export and the attribution go through this list.

import type { Component } from './component.ts';
import { gatedMlp } from './feeds/gatedMlp.ts';
import { mlp } from './feeds/mlp.ts';
import { attention } from './mixers/attention.ts';
import { crossAttention } from './mixers/crossAttention.ts';
import type { Resolved } from './options.ts';
import { rarePart } from './rareParts.ts';

/** A mixer or feed, with the names within the block of its norms and values. */
export type Sublayer = {
  component: Component;
  /** name of the norm before the sublayer, or after its sum */
  norm: string;
  /** true if the model has this norm */
  hasNorm: boolean;
  /** name of the stream that the sublayer reads, if this value can be edited */
  input?: string;
  /** name of the output that is added to the stream */
  output: string;
  /** name of the stream after the sublayer */
  sum?: string;
  /** number in the names of the norm and the factors of its output: after1, scale1 */
  number?: 1 | 2;
};

export const feedOf = ({ gated }: Resolved) => (gated ? gatedMlp : mlp);

/** @param i index of the block */
export function sublayersOf(options: Resolved, i: number): Sublayer[] {
  const { cross, disentangled, firstNorm, normPlace, sharedNorm } = options;
  const hasNorm = normPlace !== 'outputs';
  const list: Sublayer[] = [
    {
      component: disentangled ? rarePart('disentangled', 'transformer').disentangledAttention : attention,
      norm: 'norm1',
      hasNorm: hasNorm && (i > 0 || firstNorm),
      output: 'attention',
      sum: 'mid',
      number: 1,
    },
  ];
  if (cross) list.push({ component: crossAttention, norm: 'cross.norm', hasNorm, output: 'cross.attention' });
  if (options.mlp !== 0)
    list.push({
      component: feedOf(options),
      norm: 'norm2',
      hasNorm: hasNorm && !sharedNorm,
      input: 'mlp.in',
      output: 'mlp',
      number: 2,
    });
  return list;
}

/** Returns the different components of a model. A model without blocks has those of its first block. */
export const componentsOf = (options: Resolved) =>
  new Set(
    Array.from({ length: Math.max(options.layers, 1) }, (_, i) => sublayersOf(options, i))
      .flat()
      .map(({ component }) => component),
  );
