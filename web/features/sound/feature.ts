// Exports the parts of the feature sound that the rest of the page uses.

import { later } from '../../parts/lazy.ts';

export const Spectrogram = later(() => import('./spectrogram.tsx'), 'Spectrogram');
export const FrameLetters = later(() => import('./letters.tsx'), 'FrameLetters');
const loadSound = () => import('./sound.tsx');
export const Sound = later(loadSound, 'Sound');
export const SoundTitle = later(loadSound, 'SoundTitle');
