// Exports the parts of the feature similarity that the rest of the page uses.

import { later } from '../../parts/lazy.ts';

const loadSimilarity = () => import('./similarity.tsx');
export const TwoSentences = later(loadSimilarity, 'TwoSentences');
export const Similarity = later(loadSimilarity, 'Similarity');
