// What the rest of the page uses of the feature lines.

import { later } from '../../parts/lazy.tsx';

export const Lines = later(() => import('./lines.tsx'), 'Lines');
