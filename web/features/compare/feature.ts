// Exports the parts of the feature compare that the rest of the page uses.

import { later } from '../../parts/lazy.ts';

const loadCompare = () => import('./compare.tsx');
export const Compare = later(loadCompare, 'Compare');
export const CompareMarks = later(loadCompare, 'CompareMarks');
export const CompareReading = later(loadCompare, 'CompareReading');
export const loadTwoRuns = () => import('./twoRuns.ts');
