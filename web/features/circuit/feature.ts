// What the rest of the page uses of the feature circuit.

import { later } from '../../parts/lazy.tsx';

export { Ways } from './ways.tsx';

export const CircuitPanel = later(() => import('./circuit.tsx'), 'CircuitPanel');
export const Circuit = later(() => import('./circuit.tsx'), 'Circuit');
export const CircuitMarks = later(() => import('./circuit.tsx'), 'CircuitMarks');
export const CutLine = later(() => import('./circuit.tsx'), 'CutLine');
export const loadCircuitFile = () => import('./saveCircuit.ts');
