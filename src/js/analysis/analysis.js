// The entry headlight-attention/analysis: interpretability methods for the values and weights of a transformer.

/** @module headlight-attention/analysis */

export { attribution, logitLens } from './attribution.js';
export { composition } from './circuits.js';
export { logitDifference, patch } from './patching.js';
export { headScores, rollout, valueWeighted } from './patterns.js';

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
/** @typedef {import('./patching.js').Metric} Metric */
/** @typedef {import('./patching.js').PatchedModel} PatchedModel */
/** @typedef {import('./patching.js').PatchedResult} PatchedResult */
/** @typedef {import('./patching.js').PatchEdit} PatchEdit */
/** @typedef {import('./patching.js').PatchOptions} PatchOptions */
/** @typedef {import('./patching.js').PatchProgress} PatchProgress */
/** @typedef {import('./patching.js').PatchResult} PatchResult */
/** @typedef {import('./patterns.js').HeadScoreOptions} HeadScoreOptions */
/** @typedef {import('./patterns.js').HeadScores} HeadScores */
