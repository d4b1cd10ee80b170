// The entry headlight-attention/analysis: interpretability methods for the values and weights of a transformer.

/** @module headlight-attention/analysis */

export type { AblationOptions, AblationProgress, AttentionPart, HeadAblation } from './ablateHeads.ts';
export { ablateHeads } from './ablateHeads.ts';
export type { Model, ModelOptions, Numbers, Parameter, Result } from './arrays.ts';
export type { Attribution, AttributionOptions } from './attribution.ts';
export { attribution } from './attribution.ts';
export type { EdgeAttribution, EdgeAttributionOptions } from './circuits/edgeAttribution.ts';
export { edgeAttribution } from './circuits/edgeAttribution.ts';
export type { Rule } from './circuits/edgeScores.ts';
export type { Node } from './circuits/edges.ts';
export type { Circuit, CircuitOptions, CircuitPair, CircuitPoint, Edge } from './circuits/findCircuit.ts';
export { findCircuit } from './circuits/findCircuit.ts';
export type { Contributions, Cut, EdgeGraph, RunEdgesOptions } from './circuits/runEdges.ts';
export { edgeGraph, meanContributions, runEdges } from './circuits/runEdges.ts';
export type { Head } from './composition.ts';
export { composition } from './composition.ts';
export type { HeadvisNames } from './headvis/headvis.ts';
export { writeHeadvis } from './headvis/headvis.ts';
export type { HeadvisDetails, HeadvisOptions, HeadvisSample, HeadvisScan } from './headvis/headvisReader.ts';
export { readHeadvis } from './headvis/headvisReader.ts';
export type { RoleNames } from './headvis/headvisRoles.ts';
export { hiddenAngle } from './hiddenAngle.ts';
export type { KnockOutOptions } from './knockOut.ts';
export { knockOut } from './knockOut.ts';
export type { FitLensOptions, FitLensProgress, LensModel } from './lens/fitJacobianLens.ts';
export { fitJacobianLens } from './lens/fitJacobianLens.ts';
export type { JacobianLens } from './lens/jacobianLens.ts';
export { jacobianLens, mergeJacobianLenses } from './lens/jacobianLens.ts';
export { readJacobianLens, writeJacobianLens } from './lens/jacobianLensFile.ts';
export type { Guess, LensLayer, LensOptions } from './lens/logitLens.ts';
export { logitLens } from './lens/logitLens.ts';
export { logitDifference, logProbability, probability } from './metrics.ts';
export type { AttributionPatching, AttributionPatchingOptions } from './patching/attributionPatching.ts';
export { attributionPatching } from './patching/attributionPatching.ts';
export type {
  DifferentiableModel,
  GradientOptions,
  Gradients,
  Metric,
  PatchEdit,
  PatchedModel,
  PatchedResult,
} from './patching/pairs.ts';
export type { Grid, GridPart, GridPlace, GridProgress, PatchGrid, PatchGridOptions } from './patching/patchGrid.ts';
export { patchGrid } from './patching/patchGrid.ts';
export type { PatchOptions, PatchProgress, PatchResult } from './patching/patching.ts';
export { patch } from './patching/patching.ts';
export type { PathModel, PathOptions, PathProgress, PathResult } from './patching/pathPatching.ts';
export { pathPatch } from './patching/pathPatching.ts';
export type { Receiver } from './patching/paths.ts';
export type { HeadRoleOptions, NamedHeads, RoleMeasures } from './roles/headRoles.ts';
export { headRoles } from './roles/headRoles.ts';
export type { HeadScoreOptions, HeadScores } from './roles/patterns.ts';
export { headScores, rollout, valueWeighted } from './roles/patterns.ts';
export type { HeadRole } from './roles/roleRules.ts';
export type { IntegratedSalience, Salience, SalienceMethod, SalienceModel, SalienceOptions } from './salience.ts';
export { salience } from './salience.ts';
export type { HeadDetails, HeadMetrics, HeadRoles, HeadScan, Histogram, Sample, TokenWeight } from './scan/headScan.ts';
export type { ScannedModel, ScannedOptions, ScanOptions, ScanProgress } from './scan/scanHeads.ts';
export { scanHeads } from './scan/scanHeads.ts';
export type { TokenSimilarity } from './similarity.ts';
export { tokenSimilarity } from './similarity.ts';
export type { Progress } from './steps.ts';
export type { NamedModel } from './tokenNames.ts';
