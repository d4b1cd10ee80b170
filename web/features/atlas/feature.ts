// What the rest of the page uses of the feature atlas.

import { later } from '../../parts/lazy.tsx';

export const Atlas = later(() => import('./atlas.tsx'), 'Atlas');
export const AtlasMarks = later(() => import('./atlas.tsx'), 'AtlasMarks');
export const AtlasHead = later(() => import('./atlas.tsx'), 'AtlasHead');
export const loadMapExport = () => import('./map/exportMap.ts');
