// What the rest of the page uses of the feature trace.

import { later } from '../../parts/lazy.tsx';

export const Trace = later(() => import('./trace.tsx'), 'Trace');
export const TraceMarks = later(() => import('./trace.tsx'), 'TraceMarks');
export const TracePanel = later(() => import('./trace.tsx'), 'TracePanel');
export const TraceOffer = later(() => import('./offer.tsx'), 'TraceOffer');
export const Patched = later(() => import('./patched.tsx'), 'Patched');
export const loadTraceFile = () => import('./saveTrace.ts');
