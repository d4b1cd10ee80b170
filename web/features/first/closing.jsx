// The end of the first visit, which is shown until the visitor changes something.

import { useSession } from '../../ui/context.js';
import { later } from '../../ui/lazy.jsx';

const ClosingLines = later(() => import('./closingLines.jsx'), 'ClosingLines');

export const Closing = () => useSession().closing.value && <ClosingLines />;
