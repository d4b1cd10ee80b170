// What the rest of the page uses of the feature compare.

import { later } from '../../parts/lazy.tsx';

export { runPairIn, textsIn } from './twoRuns.ts';

export const Compare = later(() => import('./compare.tsx'), 'Compare');
export const CompareMarks = later(() => import('./compare.tsx'), 'CompareMarks');
export const CompareReading = later(() => import('./compare.tsx'), 'CompareReading');
