// The attribution of attention to an encoder: its output is a sum with one term for each head.

import type { ComponentAttribution } from '../../analysis/components.ts';
import { splitHeads } from './splitHeads.attribution.ts';

export const crossAttentionAttribution: ComponentAttribution = {
  kind: 'cross',
  value: 'cross.heads',
  split: (read, at, i) => splitHeads(read, 'cross', at('cross.heads'), at('cross'), i),
};
