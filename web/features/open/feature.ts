// What the rest of the page uses of the feature open.

import { later } from '../../parts/lazy.ts';

export { default as openingStyles } from './opening.css';
export { Opening, useDrop } from './opening.tsx';

export const Recognised = later(() => import('./openPanel.tsx'), 'Recognised');
