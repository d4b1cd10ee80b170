// The verbs, by name. A new verb needs a file in this folder, a line here, and its types in store/protocol.ts.

export { ablate } from './ablate.ts';
export { controlScan, headCost, saveHeadvis, scan, scannedHead, storedScan } from './atlas.ts';
export { chat } from './chat.ts';
export { circuit, circuitCut } from './circuit.ts';
export { composition } from './composition.ts';
export { generate } from './generate.ts';
export { hubDescribe, hubOpen, hubStored } from './hub.ts';
export { close, open, openInput } from './openFiles.ts';
export { rounding } from './rounding.ts';
export { show } from './show.ts';
export { nameTokens, picture, sound, split } from './sourceInputs.ts';
export { surprise } from './surprise.ts';
export { tokenProbabilities } from './tokenProbabilities.ts';
export { trace, traceControl, traceTasks } from './trace.ts';
export { acknowledgeReport, controlTraining, train } from './training.ts';
