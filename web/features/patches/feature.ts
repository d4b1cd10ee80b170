// Exports the parts of the feature patches that the rest of the page uses.

import { later } from '../../parts/lazy.ts';

const loadPatches = () => import('./patches.tsx');
export const PatchPicture = later(loadPatches, 'PatchPicture');
export const Patches = later(loadPatches, 'Patches');
