// Exports the parts of the feature sums that the rest of the page uses.

import { later } from '../../parts/lazy.ts';

export const SumPanel = later(() => import('./sums.tsx'), 'SumPanel');
export const loadSums = () => import('./sums.tsx');
