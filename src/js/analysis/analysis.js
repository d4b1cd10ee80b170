// The entry headlight-attention/analysis: interpretability methods for the values and weights of a transformer.

/** @module headlight-attention/analysis */

export { ablateHeads } from './ablateHeads.js';
export { attribution } from './attribution.js';
export { attributionPatching } from './attributionPatching.js';
export { composition } from './composition.js';
export { edgeAttribution } from './edgeAttribution.js';
export { findCircuit } from './findCircuit.js';
export { fitJacobianLens } from './fitJacobianLens.js';
export { writeHeadvis } from './headvis.js';
export { readHeadvis } from './headvisReader.js';
export { headRoles } from './headRoles.js';
export { hiddenAngle } from './hiddenAngle.js';
export { jacobianLens, mergeJacobianLenses } from './jacobianLens.js';
export { readJacobianLens, writeJacobianLens } from './jacobianLensFile.js';
export { knockOut } from './knockOut.js';
export { logitLens } from './logitLens.js';
export { logitDifference, logProbability, probability } from './metrics.js';
export { patchGrid } from './patchGrid.js';
export { patch } from './patching.js';
export { pathPatch } from './pathPatching.js';
export { headScores, rollout, valueWeighted } from './patterns.js';
export { edgeGraph, meanContributions, runEdges } from './runEdges.js';
export { salience } from './salience.js';
export { scanHeads } from './scanHeads.js';
export { tokenSimilarity } from './similarity.js';

/**
 * @template {import('./ablateHeads.js').AttentionPart} [P=import('./ablateHeads.js').AttentionPart]
 * @typedef {import('./ablateHeads.js').AblationOptions<P>} AblationOptions
 */
/** @typedef {import('./ablateHeads.js').AblationProgress} AblationProgress */
/** @typedef {import('./ablateHeads.js').AttentionPart} AttentionPart */
/**
 * @template {import('./ablateHeads.js').AttentionPart} [P=import('./ablateHeads.js').AttentionPart]
 * @typedef {import('./ablateHeads.js').HeadAblation<P>} HeadAblation
 */
/** @typedef {import('./arrays.js').Model} Model */
/** @typedef {import('./arrays.js').ModelOptions} ModelOptions */
/** @typedef {import('./arrays.js').Numbers} Numbers */
/** @typedef {import('./arrays.js').Parameter} Parameter */
/** @typedef {import('./arrays.js').Result} Result */
/** @typedef {import('./attribution.js').Attribution} Attribution */
/** @typedef {import('./attribution.js').AttributionOptions} AttributionOptions */
/** @typedef {import('./composition.js').Head} Head */
/** @typedef {import('./attributionPatching.js').AttributionPatching} AttributionPatching */
/** @typedef {import('./attributionPatching.js').AttributionPatchingOptions} AttributionPatchingOptions */
/** @typedef {import('./edgeAttribution.js').EdgeAttribution} EdgeAttribution */
/** @typedef {import('./edgeAttribution.js').EdgeAttributionOptions} EdgeAttributionOptions */
/** @typedef {import('./edges.js').Node} Node */
/** @typedef {import('./edgeScores.js').Rule} Rule */
/** @typedef {import('./findCircuit.js').Circuit} Circuit */
/** @typedef {import('./findCircuit.js').CircuitOptions} CircuitOptions */
/** @typedef {import('./findCircuit.js').CircuitPair} CircuitPair */
/** @typedef {import('./findCircuit.js').CircuitPoint} CircuitPoint */
/** @typedef {import('./findCircuit.js').Edge} Edge */
/** @typedef {import('./fitJacobianLens.js').FitLensOptions} FitLensOptions */
/** @typedef {import('./fitJacobianLens.js').FitLensProgress} FitLensProgress */
/** @typedef {import('./fitJacobianLens.js').LensModel} LensModel */
/** @typedef {import('./jacobianLens.js').JacobianLens} JacobianLens */
/** @typedef {import('./logitLens.js').Guess} Guess */
/** @typedef {import('./logitLens.js').LensLayer} LensLayer */
/** @typedef {import('./logitLens.js').LensOptions} LensOptions */
/** @typedef {import('./pairs.js').DifferentiableModel} DifferentiableModel */
/** @typedef {import('./pairs.js').GradientOptions} GradientOptions */
/** @typedef {import('./pairs.js').Gradients} Gradients */
/** @typedef {import('./pairs.js').Metric} Metric */
/** @typedef {import('./pairs.js').PatchedModel} PatchedModel */
/** @typedef {import('./pairs.js').PatchedResult} PatchedResult */
/** @typedef {import('./pairs.js').PatchEdit} PatchEdit */
/** @typedef {import('./patchGrid.js').GridPart} GridPart */
/** @typedef {import('./patchGrid.js').GridPlace} GridPlace */
/** @typedef {import('./patchGrid.js').GridProgress} GridProgress */
/** @typedef {import('./patchGrid.js').Grid} Grid */
/**
 * @template {import('./patchGrid.js').GridPart} [P=import('./patchGrid.js').GridPart]
 * @typedef {import('./patchGrid.js').PatchGridOptions<P>} PatchGridOptions
 */
/**
 * @template {import('./patchGrid.js').GridPart} [P=import('./patchGrid.js').GridPart]
 * @typedef {import('./patchGrid.js').PatchGrid<P>} PatchGrid
 */
/** @typedef {import('./headRoles.js').HeadRoleOptions} HeadRoleOptions */
/** @typedef {import('./headRoles.js').NamedHeads} NamedHeads */
/** @typedef {import('./headRoles.js').RoleMeasures} RoleMeasures */
/** @typedef {import('./headScan.js').HeadDetails} HeadDetails */
/** @typedef {import('./headScan.js').HeadMetrics} HeadMetrics */
/** @typedef {import('./headScan.js').HeadRoles} HeadRoles */
/** @typedef {import('./headScan.js').HeadScan} HeadScan */
/** @typedef {import('./headScan.js').Histogram} Histogram */
/** @typedef {import('./headScan.js').Sample} Sample */
/** @typedef {import('./headScan.js').TokenWeight} TokenWeight */
/** @typedef {import('./headvis.js').HeadvisNames} HeadvisNames */
/** @typedef {import('./headvisRoles.js').RoleNames} RoleNames */
/** @typedef {import('./headvisReader.js').HeadvisDetails} HeadvisDetails */
/** @typedef {import('./headvisReader.js').HeadvisOptions} HeadvisOptions */
/** @typedef {import('./headvisReader.js').HeadvisSample} HeadvisSample */
/** @typedef {import('./headvisReader.js').HeadvisScan} HeadvisScan */
/** @typedef {import('./knockOut.js').KnockOutOptions} KnockOutOptions */
/** @typedef {import('./patching.js').PatchOptions} PatchOptions */
/** @typedef {import('./patching.js').PatchProgress} PatchProgress */
/** @typedef {import('./patching.js').PatchResult} PatchResult */
/** @typedef {import('./patterns.js').HeadScoreOptions} HeadScoreOptions */
/** @typedef {import('./patterns.js').HeadScores} HeadScores */
/** @typedef {import('./runEdges.js').Contributions} Contributions */
/** @typedef {import('./runEdges.js').Cut} Cut */
/** @typedef {import('./runEdges.js').EdgeGraph} EdgeGraph */
/** @typedef {import('./runEdges.js').RunEdgesOptions} RunEdgesOptions */
/** @typedef {import('./roleRules.js').HeadRole} HeadRole */
/** @typedef {import('./salience.js').SalienceModel} SalienceModel */
/** @typedef {import('./salience.js').IntegratedSalience} IntegratedSalience */
/** @typedef {import('./salience.js').SalienceMethod} SalienceMethod */
/**
 * @template {import('./salience.js').SalienceMethod} [M=import('./salience.js').SalienceMethod]
 * @typedef {import('./salience.js').SalienceOptions<M>} SalienceOptions
 */
/** @typedef {import('./salience.js').Salience} Salience */
/** @typedef {import('./steps.js').Progress} Progress */
/** @typedef {import('./pathPatching.js').PathModel} PathModel */
/** @typedef {import('./pathPatching.js').PathOptions} PathOptions */
/** @typedef {import('./pathPatching.js').PathProgress} PathProgress */
/** @typedef {import('./pathPatching.js').PathResult} PathResult */
/** @typedef {import('./paths.js').Receiver} Receiver */
/** @typedef {import('./scanHeads.js').ScannedModel} ScannedModel */
/** @typedef {import('./scanHeads.js').ScannedOptions} ScannedOptions */
/** @typedef {import('./scanHeads.js').ScanOptions} ScanOptions */
/** @typedef {import('./scanHeads.js').ScanProgress} ScanProgress */
/** @typedef {import('./similarity.js').TokenSimilarity} TokenSimilarity */
/** @typedef {import('./tokenNames.js').NamedModel} NamedModel */
