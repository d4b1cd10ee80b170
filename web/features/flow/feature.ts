// What the rest of the page uses of the feature flow.

import { later } from '../../parts/lazy.tsx';

export const ContributionPanel = later(() => import('./contributionPanel.tsx'), 'ContributionPanel');
export const Flow = later(() => import('./flow.tsx'), 'Flow');
export const FlowMarks = later(() => import('./flow.tsx'), 'FlowMarks');
export const loadContributionFile = () => import('./contributionFile.ts');
