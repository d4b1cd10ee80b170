// The end of the first visit, which is shown until the visitor changes something.

import { later } from '../../parts/lazy.ts';
import { useSession } from '../../store/context.ts';

const ClosingLines = later(() => import('./closingLines.tsx'), 'ClosingLines');

export const Closing = () => useSession().closing.value && <ClosingLines />;
