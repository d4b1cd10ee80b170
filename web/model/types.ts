// Types that store, worker and features share.

import type { load } from '../../src/js/load/browser.ts';
import type {
  About,
  Contributions,
  HeadValues,
  Label,
  Piece,
  Prediction,
  ShownRun,
  Summary,
} from './protocol/protocol.ts';

export type Hl = Awaited<ReturnType<typeof load>>;

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
  /** Draws a validation sequence, for tasks in which `sequence` might draw a training sequence. */
  heldOut?(random: Random): Sequence;
  /** Returns true for a sequence that is a good example to show. */
  suits?(labels: number[]): boolean;
  model: { layers: number; dModel: number; numHeads: number; mlp: number };
  training: { rate: number; batch: number; steps: number; weightDecay?: number };
  goal: number | null;
  /** The numbers of validation sequences and of frames, for a task for which the usual numbers would take too long. */
  limits?: { validation: number; frames: number };
  /** The model that training begins with, and the model's tokenizer. If missing, a new model is trained. */
  base?: BaseModel;
  /** The text that is shown during training, with its tokens. If missing, a validation sequence is shown. */
  shown?: Sequence & { text: string };
}

export interface BaseModel {
  create(hl: Hl): ReturnType<Hl['transformer']>;
  tokenizer: SourceTokenizer;
  /** Reads the model's tokenizer.json. */
  readTokenizer(): Promise<Uint8Array>;
  /** True if the end of the text is held out; false if the text is too short for this. */
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

export type RunWithValues = Run & { values: HeadValues };

/** A run with predictions, of which one is chosen. */
export type RunWithPredictions = Run & { top: Prediction[]; chosen: Label };

export type RunWithContributions = RunWithPredictions & { added: Contributions };

/** A model from the visitor's files or from a program. */
export interface OpenedModel {
  about: About;
  summary: Summary | null;
}

/** The tokenizer of a model, or an object that replaces a tokenizer. */
export interface SourceTokenizer {
  encode(text: string): {
    ids: number[];
    offsets: [number, number][];
    tokens?: string[];
    typeIds?: number[];
  };
  decode(ids: number[], options?: { skipSpecial?: boolean }): string;
  idOf(token: string): number | undefined;
  tokenOf(id: number): string | undefined;
}
