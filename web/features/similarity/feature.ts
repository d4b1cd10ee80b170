// What the rest of the page uses of the feature similarity.

import { later } from '../../parts/lazy.tsx';

const loadSimilarity = () => import('./similarity.tsx');
export const TwoSentences = later(loadSimilarity, 'TwoSentences');
export const Similarity = later(loadSimilarity, 'Similarity');
