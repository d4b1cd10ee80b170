// Exports the parts of the feature text that the rest of the page uses.

import { later } from '../../parts/lazy.ts';

const loadText = () => import('./text.tsx');
export const Text = later(loadText, 'Text');
export const TextMarks = later(loadText, 'TextMarks');
export const TextPanel = later(loadText, 'TextPanel');
export const loadTextFile = () => import('./textFile.ts');
