// The parts of the worker's answers, and what the store keeps of them.

import type { Added, Feed } from '../features/flow/flowLayout.js';
import type { Piece } from '../features/prompt/tokens.js';
import type { Step } from '../features/reading/score.js';
import type { Curves } from '../features/train/curves.js';
import type { Image, About as SourceAbout } from '../worker/sources/sources.js';
import type { State } from './state.js';
import type { Settings } from './types.js';

/** What the page knows of a model. */
export interface About extends SourceAbout {
  trained?: { settings: Settings; tokens: string[]; probe: string; steps: number };
}

export interface Label {
  id: number;
  text: string;
}
export interface Guess extends Label {
  /** Probability in this run. */
  now: number;
}

/** Query, key, value and scores of the head shown: what the reading column computes a weight from. */
export interface HeadValues {
  layer?: number;
  head?: number;
  /** Of a query and a key; of a value if it is another. */
  width: number;
  valueWidth?: number;
  query: Float32Array;
  key: Float32Array;
  value: Float32Array;
  scores: Float32Array;
  steps: Step[];
  sink: number | null;
  mixture: Float32Array;
  labels: Label[];
  directions: Float32Array | null;
  /** Factor of the head's output: 0 is off. */
  scale: number;
  patched: boolean;
}

/** One run of the model on the text. Without tokens it has only the fields that are not optional. */
export interface ShownRun {
  pieces: Piece[];
  /** Where keys are other tokens than queries. */
  keys?: Piece[];
  /** True if the model does not read all tokens. */
  cut?: boolean;
  /** The token whose logits are the guess. */
  place?: number | null;
  T: number;
  S?: number;
  layer: number;
  head: number;
  /** (L,H,T,S); of a large run (T,S), the head shown. */
  weights: Float32Array;
  large?: boolean;
  /** True if a file named the tokens. */
  named?: boolean;
  image?: Image;
  patch?: { size: number; image: [number, number] };
  likeness?: number;
  values?: HeadValues;
  chosen?: Label;
  top?: Guess[];
  lens?: number[] | null;
  early?: { id: number; text: string; probability: number }[] | null;
  added?: (Added & { label: number }) | null;
  scores?: Record<string, number>[][] | null;
  /** Of a model in training: the likeliest token after each token. */
  guesses?: { text: string; wanted: number; right: boolean }[];
}
/** A run as it is shown: always with keys, and with what its model is. */
export interface Run extends ShownRun {
  keys: Piece[];
  S: number;
  about: About;
}

/** The same guesses in the other case: without a change, without the head, or in the pinned run. */
export interface Comparison {
  kind: string;
  top: number[];
  likeliest: string;
}

/** The head shown, in the pinned run. */
export interface PinnedHead
  extends Pick<ShownRun, 'pieces' | 'T' | 'layer' | 'head' | 'cut' | 'values' | 'top' | 'chosen'> {
  keys: Piece[];
  S: number;
  weights?: Float32Array;
}

/** How likely each token was before it was read: now, and in the unchanged model. */
export interface TokenProbabilities {
  state: State;
  now: ArrayLike<number>;
  ever: ArrayLike<number>;
}

export interface Composition {
  layer: number;
  head: number;
  feeds: Feed[];
}

/** The probability of a token without each head in turn. */
export interface Ablation extends Omit<Label, 'id'> {
  token: number;
  before: number;
  total: number;
  tried: { layer: number; head: number; probability: number }[];
}

/** A small picture of a head of a large run. */
export interface Pooled {
  data: Float32Array;
  rows: number;
  columns: number;
}

/** Names of heads, by layer and head. */
export type Roles = (string | null)[][];

export type ProblemValue = string | number;

/** What was recognised in files. */
export type Summary = WeightsSummary | LayerSummary | TransformerSummary;
export interface WeightsSummary {
  kind: 'weights';
  /** The axis whose sums are 1. */
  sums: string;
  parts: AttentionSizes[];
  /** True if the files name the tokens. */
  named: boolean;
  /** Names of arrays that are not shown. */
  unused: string[];
  problems: { code: string; values: ProblemValue[] }[];
}
export interface AttentionSizes {
  name: string;
  layers: number;
  batch: number;
  heads: number;
  T: number;
  S: number;
  /** The sizes before tokens were cut off. */
  wholeT: number;
  wholeS: number;
  /** The number of NaN. */
  nan: number;
  causal: boolean;
}
export interface LayerSummary {
  kind: 'layer';
  T: number;
  S: number;
  width: number;
  /** True if queries and keys are computed from the weights of a layer. */
  projected: boolean;
  batch: number;
  named: boolean;
}
export interface TransformerSummary {
  kind: 'transformer';
  weights: string;
  parameters: number;
  bytes: number;
  /** Files that are missing: 'tokenizer', 'mask', 'preprocessor'. */
  missing: string[];
  /** Names of parameters with NaN. */
  nan: string[];
}
export interface OpenedModel {
  about: About;
  summary: Summary | null;
}

export interface TrainingProgress {
  steps: number;
  end: number;
  /** The step that is looked back at. */
  at: number | null;
  playing: boolean;
  key: string;
  settings: Settings;
  perSecond: number | null;
}
export interface Frame {
  step: number;
  weights: Float32Array;
}
/** The loss was not finite, or rose too far: training went back to an earlier step. */
export interface Divergence {
  step: number;
  nan: boolean;
  back: number;
  rate: number;
}
export interface SavedModel {
  key: string;
  settings: Settings;
  steps: number;
  at: number;
}
export interface TrainedPart {
  progress: TrainingProgress;
  points: [step: number, loss: number, right?: number][];
  scores?: Record<string, number>;
  frame?: Frame;
  /** Steps whose frames are kept. */
  kept?: number[];
  began?: { curves: Curves; settings: Settings; steps: number; frames: Frame[] };
  astray?: Divergence;
}

/** The fields of each part, by its name. */
export interface Parts {
  progress: { read: number; total: number };
  source: { about: About };
  run: ShownRun;
  other: Comparison;
  versus: PinnedHead;
  trades: { trades: Roles | null };
  pooled: Pooled & { layer: number; head: number };
  real: TokenProbabilities;
  feeds: Composition;
  heads: Ablation;
  written: { text: string };
  given: { about: About; told: Summary | null };
  opening: { read: number; total: number };
  opened: { about: About; told: Summary };
  named: object;
  pictured: object;
  trained: TrainedPart;
  shelf: { list?: SavedModel[]; problem?: string };
  saved: { bytes: Uint8Array; settings: Settings; ending?: string };
}
export type PartName = keyof Parts;
/** What the store does with each part; `verb` is the question's. */
export type PartHandlers<Names extends PartName = PartName> = {
  [Name in Names]: (fields: Parts[Name] & { verb: string }) => unknown;
};
export type Part = { [Name in PartName]: Parts[Name] & { part: Name; verb: string; of?: string } }[PartName];

/** An answer that is an error: `code` is a key of the texts' `problems`, `values` fill its text. */
export interface Failure {
  verb: string;
  message: string;
  code?: string;
  values?: ProblemValue[];
}
