// Exports the parts of the feature open that the rest of the page uses.

import { later } from '../../parts/lazy.ts';

export { default as openingStyles } from './opening.css';
export { Opening, useDrop } from './opening.tsx';

export const Recognised = later(() => import('./openPanel.tsx'), 'Recognised');
