// The entry headlight-attention/analysis: interpretability methods for the values and weights of a transformer.

/** @module headlight-attention/analysis */

export { attribution, logitLens } from './attribution.js';
export { composition } from './circuits.js';
export { writeHeadvis } from './headvis.js';
export { readHeadvis } from './headvisReader.js';
export { knockOut } from './knockOut.js';
export { logitDifference, patch } from './patching.js';
export { pathPatch } from './pathPatching.js';
export { headScores, rollout, valueWeighted } from './patterns.js';
export { scanHeads } from './scanHeads.js';

/** @typedef {import('./arrays.js').Model} Model */
/** @typedef {import('./arrays.js').ModelOptions} ModelOptions */
/** @typedef {import('./arrays.js').Numbers} Numbers */
/** @typedef {import('./arrays.js').Parameter} Parameter */
/** @typedef {import('./arrays.js').Result} Result */
/** @typedef {import('./attribution.js').Attribution} Attribution */
/** @typedef {import('./attribution.js').AttributionOptions} AttributionOptions */
/** @typedef {import('./attribution.js').Guess} Guess */
/** @typedef {import('./attribution.js').LensLayer} LensLayer */
/** @typedef {import('./attribution.js').LensOptions} LensOptions */
/** @typedef {import('./circuits.js').Head} Head */
/** @typedef {import('./headScan.js').HeadDetails} HeadDetails */
/** @typedef {import('./headScan.js').HeadMetrics} HeadMetrics */
/** @typedef {import('./headScan.js').HeadRole} HeadRole */
/** @typedef {import('./headScan.js').HeadRoles} HeadRoles */
/** @typedef {import('./headScan.js').HeadScan} HeadScan */
/** @typedef {import('./headScan.js').Histogram} Histogram */
/** @typedef {import('./headScan.js').Sample} Sample */
/** @typedef {import('./headScan.js').TokenWeight} TokenWeight */
/** @typedef {import('./headvis.js').HeadvisNames} HeadvisNames */
/** @typedef {import('./headvisReader.js').HeadvisDetails} HeadvisDetails */
/** @typedef {import('./headvisReader.js').HeadvisOptions} HeadvisOptions */
/** @typedef {import('./headvisReader.js').HeadvisSample} HeadvisSample */
/** @typedef {import('./headvisReader.js').HeadvisScan} HeadvisScan */
/** @typedef {import('./knockOut.js').KnockOutOptions} KnockOutOptions */
/** @typedef {import('./patching.js').Metric} Metric */
/** @typedef {import('./patching.js').PatchedModel} PatchedModel */
/** @typedef {import('./patching.js').PatchedResult} PatchedResult */
/** @typedef {import('./patching.js').PatchEdit} PatchEdit */
/** @typedef {import('./patching.js').PatchOptions} PatchOptions */
/** @typedef {import('./patching.js').PatchProgress} PatchProgress */
/** @typedef {import('./patching.js').PatchResult} PatchResult */
/** @typedef {import('./patterns.js').HeadScoreOptions} HeadScoreOptions */
/** @typedef {import('./patterns.js').HeadScores} HeadScores */
/** @typedef {import('./pathPatching.js').PathModel} PathModel */
/** @typedef {import('./pathPatching.js').PathOptions} PathOptions */
/** @typedef {import('./pathPatching.js').PathProgress} PathProgress */
/** @typedef {import('./pathPatching.js').PathResult} PathResult */
/** @typedef {import('./paths.js').Receiver} Receiver */
/** @typedef {import('./scanHeads.js').ScannedModel} ScannedModel */
/** @typedef {import('./scanHeads.js').ScannedOptions} ScannedOptions */
/** @typedef {import('./scanHeads.js').ScanOptions} ScanOptions */
/** @typedef {import('./scanHeads.js').ScanProgress} ScanProgress */
/** @typedef {import('./tokenNames.js').NamedModel} NamedModel */
