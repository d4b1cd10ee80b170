// Exports the parts of the feature textImage that the rest of the page uses.

import { later } from '../../parts/lazy.ts';

export const TextImage = later(() => import('./textImage.tsx'), 'TextImage');
