// The shapes and initial values of the parameters of single layers.

import type { Resolved } from './options.ts';

export type Start = 'normal' | 'xavier' | 'ones' | 'zeros';
/**
 * random: true if the layer has a stream of random numbers of its own, for its initial values. plain: the width of a
 * norm without weights.
 */
export type LayerShape = {
  name: string;
  random: boolean;
  parameters: [name: string, shape: number[], start: Start][];
  plain?: number;
};

export const linear = (name: string, out: number, inside: number, bias: boolean): LayerShape => ({
  name,
  random: true,
  parameters: [['weight', [out, inside], 'xavier'], ...(bias ? [['bias', [out], 'zeros'] as any] : [])],
});

export function norm(name: string, width: number, { norm: kind, normScale, bias }: Resolved): LayerShape[] {
  if (kind === 'none') return [];
  const parameters: LayerShape['parameters'] = normScale ? [['weight', [width], 'ones']] : [];
  if (kind === 'layer' && bias.norm) parameters.push(['bias', [width], 'zeros']);
  return [{ name, random: false, parameters, ...(!normScale && { plain: width }) }];
}
