// Exports the parts of the feature circuit that the rest of the page uses.

import { later } from '../../parts/lazy.ts';

const loadCircuit = () => import('./circuit.tsx');
export const CircuitPanel = later(loadCircuit, 'CircuitPanel');
export const Circuit = later(loadCircuit, 'Circuit');
export const CircuitMarks = later(loadCircuit, 'CircuitMarks');
export const CutLine = later(loadCircuit, 'CutLine');
export const loadCircuitFile = () => import('./saveCircuit.ts');
