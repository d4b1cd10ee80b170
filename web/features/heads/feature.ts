// Exports the parts of the feature heads that the rest of the page uses.

import { later } from '../../parts/lazy.ts';

export { default as headGridStyles } from './headGrid.css';
export { Model } from './headGrid.tsx';

export const AblationPanel = later(() => import('./ablationPanel.tsx'), 'AblationPanel');
export const HeadTable = later(() => import('./headTable.tsx'), 'HeadTable');
export const AboutHeads = later(() => import('./attentionOnly.tsx'), 'AboutHeads');
