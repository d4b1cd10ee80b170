// The parameters of the convolutions before the blocks.

import type { LayerShape } from '../layerShapes.ts';
import type { Resolved } from '../options.ts';
import type { Sound } from './options.ts';

const layer = (name: string, parameters: LayerShape['parameters'], random = true): LayerShape => ({
  name,
  random,
  parameters,
});

const norm = (name: string, width: number) =>
  layer(
    name,
    [
      ['weight', [width], 'ones'],
      ['bias', [width], 'zeros'],
    ],
    false,
  );

export function* soundLayers({ dModel, sound }: Resolved): Generator<LayerShape> {
  const { widths, kernels, norm: kind, bias, projectNorm, positions } = sound as Sound;
  for (const [i, width] of widths.entries()) {
    const at = `embedding.layers.${i}`;
    const parameters: LayerShape['parameters'] = [['weight', [width, widths[i - 1] ?? 1, kernels[i]], 'normal']];
    if (bias) parameters.push(['bias', [width], 'zeros']);
    yield layer(`${at}.conv`, parameters);
    if (kind === 'all' || i === 0) yield norm(`${at}.norm`, width);
  }
  const last = widths[widths.length - 1];
  if (projectNorm) yield norm('embedding.project.norm', last);
  yield layer('embedding.project', [
    ['weight', [dModel, last], 'xavier'],
    ['bias', [dModel], 'zeros'],
  ]);
  // The kernel is gain · direction / |direction|, for each of its taps.
  yield layer('embedding.position', [
    ['gain', [positions.kernel], 'ones'],
    ['direction', [dModel, dModel / positions.groups, positions.kernel], 'normal'],
    ['bias', [dModel], 'zeros'],
  ]);
}
