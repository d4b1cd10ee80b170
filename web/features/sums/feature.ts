// What the rest of the page uses of the feature sums.

import { later } from '../../parts/lazy.ts';

export const SumPanel = later(() => import('./sums.tsx'), 'SumPanel');
export const loadSums = () => import('./sums.tsx');
