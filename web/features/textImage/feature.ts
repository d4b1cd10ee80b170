// What the rest of the page uses of the feature textImage.

import { later } from '../../parts/lazy.ts';

export const TextImage = later(() => import('./textImage.tsx'), 'TextImage');
