// What the rest of the page uses of the feature crash.

import { later } from '../../parts/lazy.tsx';

export const Ended = later(() => import('./workerEnded.tsx'), 'Ended');
