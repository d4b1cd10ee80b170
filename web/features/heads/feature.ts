// What the rest of the page uses of the feature heads.

import { later } from '../../parts/lazy.ts';

export { default as headGridStyles } from './headGrid.css';
export { Model } from './headGrid.tsx';

export const AblationPanel = later(() => import('./ablationPanel.tsx'), 'AblationPanel');
export const HeadTable = later(() => import('./headTable.tsx'), 'HeadTable');
export const AboutHeads = later(() => import('./attentionOnly.tsx'), 'AboutHeads');
