// What the rest of the page uses of the feature print.

import { later } from '../../parts/lazy.tsx';

export const Media = later(() => import('./print.tsx'), 'Media');
