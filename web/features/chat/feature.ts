// Exports the parts of the feature chat that the rest of the page uses.

import { later } from '../../parts/lazy.ts';

export const Chat = later(() => import('./chat.tsx'), 'Chat');
