// What the rest of the page uses of the feature train.

import { later } from '../../parts/lazy.tsx';

export const Film = later(() => import('./train.tsx'), 'Film');
export const Probe = later(() => import('./train.tsx'), 'Probe');
export const TrainBar = later(() => import('./train.tsx'), 'TrainBar');
export const TrainNote = later(() => import('./train.tsx'), 'TrainNote');
export const Lesson = later(() => import('./train.tsx'), 'Lesson');
export const Charts = later(() => import('./train.tsx'), 'Charts');
export const ShortCharts = later(() => import('./train.tsx'), 'ShortCharts');
