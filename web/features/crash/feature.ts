// What the rest of the page uses of the feature crash.

import { later } from '../../parts/lazy.ts';

export const Ended = later(() => import('./workerEnded.tsx'), 'Ended');
