// What the rest of the page uses of the feature waiting.

import { later } from '../../parts/lazy.tsx';

export const Waiting = later(() => import('./waiting.tsx'), 'Waiting');
export const FailedRun = later(() => import('./waiting.tsx'), 'FailedRun');
