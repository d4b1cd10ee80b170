// Types that store, worker and features share.

import type { SourceTokenizer } from '../worker/sources/types.js';
import type { About, Contributions, HeadValues, Label, Piece, Prediction, ShownRun, Summary } from './protocol.js';

export type Hl = Awaited<ReturnType<typeof import('../../src/js/load/browser.js').load>>;

export interface Tensor {
  data: Float32Array;
  shape: number[];
}

export type Task = 'repeat' | 'previous' | 'copy' | 'reverse' | 'sort' | 'brackets' | 'recall' | 'whale';

export type Random = () => number;

export interface Sequence {
  tokens: number[];
  targets: number[];
}

export interface TaskKind {
  tokens: string[];
  context: number;
  sequence(random: Random): Sequence;
  /** Validation sequences, if those of `sequence` could be training sequences. */
  heldOut?(random: Random): Sequence;
  /** True if a sequence is a good example. */
  suits?(labels: number[]): boolean;
  model: { layers: number; dModel: number; numHeads: number; mlp: number };
  training: { rate: number; batch: number; steps: number; weightDecay?: number };
  goal: number | null;
  /** How much is computed during training, where the usual numbers would take too long. */
  limits?: { validation: number; frames: number };
  /** The model that training begins with, and its tokenizer; without it a new model begins. */
  base?: BaseModel;
  /** The text that is shown and its tokens, if it is not one of the validation sequences. */
  shown?: Sequence & { text: string };
}

export interface BaseModel {
  create(hl: Hl): ReturnType<Hl['transformer']>;
  tokenizer: SourceTokenizer;
  /** Reads its tokenizer.json. */
  readTokenizer(): Promise<Uint8Array>;
  /** True if the end of the text is held out; otherwise the text is too short. */
  holdsOut: boolean;
}

export interface Settings {
  task: Task;
  text: string;
  layers: number;
  heads: number;
  width: number;
  mlp: boolean;
  rate: number;
  optimizer: 'adamW' | 'adam' | 'sgd';
  dropout: number;
  seed: number;
}

export interface Labels {
  data: Int32Array;
  shape: number[];
}

/** A run as components see it: always with keys, and with the properties of its model. */
export interface Run extends ShownRun {
  keys: Piece[];
  S: number;
  about: About;
}

/** A run with the numbers of the shown head. */
export type RunWithValues = Run & { values: HeadValues };

/** A run with predictions, of which one is chosen. */
export type RunWithPredictions = Run & { top: Prediction[]; chosen: Label };

/** A run with the contributions to the logit of the chosen prediction. */
export type RunWithContributions = RunWithPredictions & { added: Contributions };

/** A model of the visitor's files or of a program. */
export interface OpenedModel {
  about: About;
  summary: Summary | null;
}
