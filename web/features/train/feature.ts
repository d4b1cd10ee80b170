// Exports the parts of the feature train that the rest of the page uses.

import { later } from '../../parts/lazy.ts';

const loadTrain = () => import('./train.tsx');
export const Film = later(loadTrain, 'Film');
export const Probe = later(loadTrain, 'Probe');
export const TrainBar = later(loadTrain, 'TrainBar');
export const TrainNote = later(loadTrain, 'TrainNote');
export const Lesson = later(loadTrain, 'Lesson');
export const Charts = later(loadTrain, 'Charts');
export const ShortCharts = later(loadTrain, 'ShortCharts');
