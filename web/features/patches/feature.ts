// What the rest of the page uses of the feature patches.

import { later } from '../../parts/lazy.ts';

const loadPatches = () => import('./patches.tsx');
export const PatchPicture = later(loadPatches, 'PatchPicture');
export const Patches = later(loadPatches, 'Patches');
