// The attribution of a feed-forward, with or without a gate: its output is one part.

import type { ComponentAttribution } from '../../analysis/components.ts';

export const mlpAttribution: ComponentAttribution = { kind: 'mlps', value: 'mlp' };
