// What the rest of the page uses of the feature compare.

import { later } from '../../parts/lazy.ts';

const loadCompare = () => import('./compare.tsx');
export const Compare = later(loadCompare, 'Compare');
export const CompareMarks = later(loadCompare, 'CompareMarks');
export const CompareReading = later(loadCompare, 'CompareReading');
export const loadTwoRuns = () => import('./twoRuns.ts');
