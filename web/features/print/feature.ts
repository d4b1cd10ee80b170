// Exports the parts of the feature print that the rest of the page uses.

import { later } from '../../parts/lazy.ts';

export const Media = later(() => import('./print.tsx'), 'Media');
