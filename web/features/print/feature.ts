// What the rest of the page uses of the feature print.

import { later } from '../../parts/lazy.ts';

export const Media = later(() => import('./print.tsx'), 'Media');
