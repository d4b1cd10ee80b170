// What the rest of the page uses of the feature sound.

import { later } from '../../parts/lazy.tsx';

export const Spectrogram = later(() => import('./spectrogram.tsx'), 'Spectrogram');
export const FrameLetters = later(() => import('./letters.tsx'), 'FrameLetters');
export const Sound = later(() => import('./sound.tsx'), 'Sound');
export const SoundTitle = later(() => import('./sound.tsx'), 'SoundTitle');
