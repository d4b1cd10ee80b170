// Exports the parts of the feature crash that the rest of the page uses.

import { later } from '../../parts/lazy.ts';

export const Ended = later(() => import('./workerEnded.tsx'), 'Ended');
