// What the rest of the page uses of the feature text.

import { later } from '../../parts/lazy.tsx';

export const Text = later(() => import('./text.tsx'), 'Text');
export const TextMarks = later(() => import('./text.tsx'), 'TextMarks');
export const TextPanel = later(() => import('./text.tsx'), 'TextPanel');
export const loadTextFile = () => import('./textFile.ts');
