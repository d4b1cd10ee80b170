// What the rest of the page uses of the feature written.

import { later } from '../../parts/lazy.ts';

const loadWritten = () => import('./written.tsx');
export const WrittenLine = later(loadWritten, 'WrittenLine');
export const WrittenPanel = later(loadWritten, 'WrittenPanel');
export const WrittenRows = later(loadWritten, 'WrittenRows');
