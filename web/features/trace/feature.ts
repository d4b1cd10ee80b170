// Exports the parts of the feature trace that the rest of the page uses.

import { later } from '../../parts/lazy.ts';

const loadTrace = () => import('./trace.tsx');
export const Trace = later(loadTrace, 'Trace');
export const TraceMarks = later(loadTrace, 'TraceMarks');
export const TracePanel = later(loadTrace, 'TracePanel');
export const TraceOffer = later(() => import('./offer.tsx'), 'TraceOffer');
export const Patched = later(() => import('./patched.tsx'), 'Patched');
export const loadTraceFile = () => import('./saveTrace.ts');
