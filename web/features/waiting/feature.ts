// What the rest of the page uses of the feature waiting.

import { later } from '../../parts/lazy.ts';

const loadWaiting = () => import('./waiting.tsx');
export const Waiting = later(loadWaiting, 'Waiting');
export const FailedRun = later(loadWaiting, 'FailedRun');
