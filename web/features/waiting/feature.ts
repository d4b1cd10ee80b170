// Exports the parts of the feature waiting that the rest of the page uses.

import { later } from '../../parts/lazy.ts';

const loadWaiting = () => import('./waiting.tsx');
export const Waiting = later(loadWaiting, 'Waiting');
export const FailedRun = later(loadWaiting, 'FailedRun');
