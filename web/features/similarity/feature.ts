// What the rest of the page uses of the feature similarity.

import { later } from '../../parts/lazy.ts';

const loadSimilarity = () => import('./similarity.tsx');
export const TwoSentences = later(loadSimilarity, 'TwoSentences');
export const Similarity = later(loadSimilarity, 'Similarity');
