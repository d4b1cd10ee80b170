// What the rest of the page uses of the feature patches.

import { later } from '../../parts/lazy.tsx';

export const PatchPicture = later(() => import('./patches.tsx'), 'PatchPicture');
export const Patches = later(() => import('./patches.tsx'), 'Patches');
