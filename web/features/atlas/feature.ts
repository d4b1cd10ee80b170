// Exports the parts of the feature atlas that the rest of the page uses.

import { later } from '../../parts/lazy.ts';

const loadAtlas = () => import('./atlas.tsx');
export const Atlas = later(loadAtlas, 'Atlas');
export const AtlasMarks = later(loadAtlas, 'AtlasMarks');
export const AtlasHead = later(loadAtlas, 'AtlasHead');
export const loadMapExport = () => import('./map/exportMap.ts');
