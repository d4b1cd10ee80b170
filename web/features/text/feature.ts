// What the rest of the page uses of the feature text.

import { later } from '../../parts/lazy.ts';

const loadText = () => import('./text.tsx');
export const Text = later(loadText, 'Text');
export const TextMarks = later(loadText, 'TextMarks');
export const TextPanel = later(loadText, 'TextPanel');
export const loadTextFile = () => import('./textFile.ts');
