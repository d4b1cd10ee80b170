// Exports the parts of the feature story that the rest of the page uses.

import { later } from '../../parts/lazy.ts';

export const Inside = later(() => import('./inside.tsx'), 'Inside');
export const Story = later(() => import('./story.tsx'), 'Story');
export const CutLine = later(() => import('./cutLine.tsx'), 'CutLine');
