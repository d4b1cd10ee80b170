// Exports the parts of the feature mask that the rest of the page uses.

import { later } from '../../parts/lazy.ts';

export const BrushLine = later(() => import('./brushLine.tsx'), 'BrushLine');
export const loadBrush = () => import('./brush.tsx');
