// What the rest of the page uses of the feature chat.

import { later } from '../../parts/lazy.ts';

export const Chat = later(() => import('./chat.tsx'), 'Chat');
