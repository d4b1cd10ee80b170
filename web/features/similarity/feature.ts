// What the rest of the page uses of the feature similarity.

import { later } from '../../parts/lazy.tsx';

export const TwoSentences = later(() => import('./similarity.tsx'), 'TwoSentences');
export const Similarity = later(() => import('./similarity.tsx'), 'Similarity');
