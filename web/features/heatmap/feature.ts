// Exports the parts of the feature heatmap that the rest of the page uses.

import { later } from '../../parts/lazy.ts';

export { default as heatmapStyles } from './heatmap.css';
export { Picture } from './heatmap.tsx';
export type { PointedHead } from './lens.tsx';

export const HeadsLens = later(() => import('./lens.tsx'), 'HeadsLens');
