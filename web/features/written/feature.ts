// Exports the parts of the feature written that the rest of the page uses.

import { later } from '../../parts/lazy.ts';

const loadWritten = () => import('./written.tsx');
export const WrittenLine = later(loadWritten, 'WrittenLine');
export const WrittenPanel = later(loadWritten, 'WrittenPanel');
export const WrittenRows = later(loadWritten, 'WrittenRows');
