// What the rest of the page uses of the feature lines.

import { later } from '../../parts/lazy.ts';

export const Lines = later(() => import('./lines.tsx'), 'Lines');
