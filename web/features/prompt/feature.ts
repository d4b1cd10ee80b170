// Exports the parts of the feature prompt that the rest of the page uses.

import { later } from '../../parts/lazy.ts';

export { Sentence } from './prompt.tsx';

export const Empty = later(() => import('./emptyPrompt.tsx'), 'Empty');
