// The verbs, by name. A new verb needs a file in this folder, a line here, and its types in store/protocol.d.ts.

export { ablate } from './ablate.js';
export { controlScan, headCost, saveHeadvis, scan, scannedHead, storedScan } from './atlas.js';
export { chat } from './chat.js';
export { circuit, circuitCut } from './circuit.js';
export { composition } from './composition.js';
export { generate } from './generate.js';
export { hubDescribe, hubOpen, hubStored } from './hub.js';
export { close, open, openInput } from './openFiles.js';
export { rounding } from './rounding.js';
export { show } from './show.js';
export { nameTokens, picture, sound, split } from './sourceInputs.js';
export { surprise } from './surprise.js';
export { tokenProbabilities } from './tokenProbabilities.js';
export { trace, traceControl, traceTasks } from './trace.js';
export { acknowledgeReport, controlTraining, train } from './training.js';
