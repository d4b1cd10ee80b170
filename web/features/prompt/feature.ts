// What the rest of the page uses of the feature prompt.

import { later } from '../../parts/lazy.ts';

export { Sentence } from './prompt.tsx';

export const Empty = later(() => import('./emptyPrompt.tsx'), 'Empty');
