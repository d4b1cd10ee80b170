// What the rest of the page uses of the feature textImage.

import { later } from '../../parts/lazy.tsx';

export const TextImage = later(() => import('./textImage.tsx'), 'TextImage');
