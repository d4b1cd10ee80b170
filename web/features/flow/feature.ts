// Exports the parts of the feature flow that the rest of the page uses.

import { later } from '../../parts/lazy.ts';

export const ContributionPanel = later(() => import('./contributionPanel.tsx'), 'ContributionPanel');
const loadFlow = () => import('./flow.tsx');
export const Flow = later(loadFlow, 'Flow');
export const FlowMarks = later(loadFlow, 'FlowMarks');
export const loadContributionFile = () => import('./contributionFile.ts');
