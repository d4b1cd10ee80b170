// The entry headlight-attention/analysis: interpretability methods for the values and weights of a transformer.

/** @module headlight-attention/analysis */

export { ablateHeads } from './ablateHeads.ts';
export { attribution } from './attribution.ts';
export { attributionPatching } from './attributionPatching.ts';
export { composition } from './composition.ts';
export { edgeAttribution } from './edgeAttribution.ts';
export { findCircuit } from './findCircuit.ts';
export { fitJacobianLens } from './fitJacobianLens.ts';
export { headRoles } from './headRoles.ts';
export { writeHeadvis } from './headvis.ts';
export { readHeadvis } from './headvisReader.ts';
export { hiddenAngle } from './hiddenAngle.ts';
export { jacobianLens, mergeJacobianLenses } from './jacobianLens.ts';
export { readJacobianLens, writeJacobianLens } from './jacobianLensFile.ts';
export { knockOut } from './knockOut.ts';
export { logitLens } from './logitLens.ts';
export { logitDifference, logProbability, probability } from './metrics.ts';
export { patchGrid } from './patchGrid.ts';
export { patch } from './patching.ts';
export { pathPatch } from './pathPatching.ts';
export { headScores, rollout, valueWeighted } from './patterns.ts';
export { edgeGraph, meanContributions, runEdges } from './runEdges.ts';
export { salience } from './salience.ts';
export { scanHeads } from './scanHeads.ts';
export { tokenSimilarity } from './similarity.ts';

export type AblationOptions<
  P extends import('./ablateHeads.ts').AttentionPart = import('./ablateHeads.ts').AttentionPart,
> = import('./ablateHeads.ts').AblationOptions<P>;
export type { AblationProgress, AttentionPart } from './ablateHeads.ts';

import type { AttentionPart } from './ablateHeads.ts';
export type HeadAblation<
  P extends import('./ablateHeads.ts').AttentionPart = import('./ablateHeads.ts').AttentionPart,
> = import('./ablateHeads.ts').HeadAblation<P>;
export type { Model, ModelOptions, Numbers, Parameter, Result } from './arrays.ts';
export type { Attribution, AttributionOptions } from './attribution.ts';
export type { AttributionPatching, AttributionPatchingOptions } from './attributionPatching.ts';
export type { Head } from './composition.ts';
export type { EdgeAttribution, EdgeAttributionOptions } from './edgeAttribution.ts';
export type { Rule } from './edgeScores.ts';
export type { Node } from './edges.ts';
export type { Circuit, CircuitOptions, CircuitPair, CircuitPoint, Edge } from './findCircuit.ts';
export type { FitLensOptions, FitLensProgress, LensModel } from './fitJacobianLens.ts';
export type { JacobianLens } from './jacobianLens.ts';
export type { Guess, LensLayer, LensOptions } from './logitLens.ts';
export type {
  DifferentiableModel,
  GradientOptions,
  Gradients,
  Metric,
  PatchEdit,
  PatchedModel,
  PatchedResult,
} from './pairs.ts';
export type { GridPart } from './patchGrid.ts';

import type { GridPart } from './patchGrid.ts';

export type { Grid, GridPlace, GridProgress } from './patchGrid.ts';
export type PatchGridOptions<P extends import('./patchGrid.ts').GridPart = import('./patchGrid.ts').GridPart> =
  import('./patchGrid.ts').PatchGridOptions<P>;
export type PatchGrid<P extends import('./patchGrid.ts').GridPart = import('./patchGrid.ts').GridPart> =
  import('./patchGrid.ts').PatchGrid<P>;
export type { HeadRoleOptions, NamedHeads, RoleMeasures } from './headRoles.ts';
export type { HeadDetails, HeadMetrics, HeadRoles, HeadScan, Histogram, Sample, TokenWeight } from './headScan.ts';
export type { HeadvisNames } from './headvis.ts';
export type { HeadvisDetails, HeadvisOptions, HeadvisSample, HeadvisScan } from './headvisReader.ts';
export type { RoleNames } from './headvisRoles.ts';
export type { KnockOutOptions } from './knockOut.ts';
export type { PatchOptions, PatchProgress, PatchResult } from './patching.ts';
export type { HeadScoreOptions, HeadScores } from './patterns.ts';
export type { HeadRole } from './roleRules.ts';
export type { Contributions, Cut, EdgeGraph, RunEdgesOptions } from './runEdges.ts';
export type { IntegratedSalience, SalienceMethod, SalienceModel } from './salience.ts';

import type { SalienceMethod } from './salience.ts';
export type SalienceOptions<M extends import('./salience.ts').SalienceMethod = import('./salience.ts').SalienceMethod> =
  import('./salience.ts').SalienceOptions<M>;
export type { PathModel, PathOptions, PathProgress, PathResult } from './pathPatching.ts';
export type { Receiver } from './paths.ts';
export type { Salience } from './salience.ts';
export type { ScannedModel, ScannedOptions, ScanOptions, ScanProgress } from './scanHeads.ts';
export type { TokenSimilarity } from './similarity.ts';
export type { Progress } from './steps.ts';
export type { NamedModel } from './tokenNames.ts';
