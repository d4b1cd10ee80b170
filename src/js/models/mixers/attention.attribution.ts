// The attribution of self-attention: its output is a sum with one term for each head. That of disentangled attention is
// the same, because relative positions change the attention weights only.

import type { ComponentAttribution } from '../../analysis/components.ts';
import { splitHeads } from './splitHeads.attribution.ts';

export const attentionAttribution: ComponentAttribution = {
  kind: 'heads',
  value: 'heads',
  split: (read, at, i) => splitHeads(read, 'heads', at('heads'), at('attention'), i),
};
