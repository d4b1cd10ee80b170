// What the rest of the page uses of the feature mask.

import { later } from '../../parts/lazy.ts';

export const BrushLine = later(() => import('./brushLine.tsx'), 'BrushLine');
export const loadBrush = () => import('./brush.tsx');
