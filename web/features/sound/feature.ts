// What the rest of the page uses of the feature sound.

import { later } from '../../parts/lazy.ts';

export const Spectrogram = later(() => import('./spectrogram.tsx'), 'Spectrogram');
export const FrameLetters = later(() => import('./letters.tsx'), 'FrameLetters');
const loadSound = () => import('./sound.tsx');
export const Sound = later(loadSound, 'Sound');
export const SoundTitle = later(loadSound, 'SoundTitle');
