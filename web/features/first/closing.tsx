// The end of the first visit, which is shown until the visitor changes something.

import { useSession } from '../../store/context.ts';
import { later } from '../../ui/lazy.tsx';

const ClosingLines = later(() => import('./closingLines.tsx'), 'ClosingLines');

export const Closing = () => useSession().closing.value && <ClosingLines />;
