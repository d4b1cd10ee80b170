// Exports the parts of the feature lines that the rest of the page uses.

import { later } from '../../parts/lazy.ts';

export const Lines = later(() => import('./lines.tsx'), 'Lines');
