// What the rest of the page uses of the feature written.

import { later } from '../../parts/lazy.tsx';

export const WrittenLine = later(() => import('./written.tsx'), 'WrittenLine');
export const WrittenPanel = later(() => import('./written.tsx'), 'WrittenPanel');
export const WrittenRows = later(() => import('./written.tsx'), 'WrittenRows');
