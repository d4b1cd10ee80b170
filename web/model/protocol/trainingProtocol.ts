// Reports of a training and the models that the browser stores, as the worker sends them to the page.

import type { Curves } from '../training/curves.ts';
import type { Settings } from '../types.ts';
import type { HeadScores } from './protocol.ts';

/** right: the share of correct predictions on validation sequences. */
export type TrainingPoint = [step: number, loss: number, right?: number];

export interface TrainingProgress {
  steps: number;
  /** The step at which training pauses. */
  end: number;
  /** The earlier step that is shown; null if the newest one is. */
  at: number | null;
  playing: boolean;
  key: string;
  settings: Settings;
  perSecond: number | null;
}

/** The attention weights of all heads on the probe sequence at one step. */
export interface Frame {
  step: number;
  weights: Float32Array;
}

export interface TrainingReport extends ReportDetails {
  progress: TrainingProgress;
  /** Points since the last report. */
  points: TrainingPoint[];
}

export interface ReportDetails {
  /** Scores of heads, by names such as 'induction 1.0', which consist of the name of the score, layer and head. */
  scores?: HeadScores;
  frame?: Frame;
  snapshots?: number[];
  /** Present in the first report of a training only. */
  started?: { curves: Curves; settings: Settings; steps: number; frames: Frame[] };
  /** How much an existing model has changed by being trained further; missing for a new model. */
  changes?: HeadChanges;
  /** The loss diverged at `step`; `back` is the step that was restored. */
  diverged?: { step: number; nan: boolean; back: number; rate: number };
}

/** The changes of an existing model since its training began. A pair is the value before training and the value now. */
export interface HeadChanges {
  /** The step at which the model was compared. The step that the page shows may be later. */
  step: number;
  /** The mean loss in nats per held-out token; null if the text is too short to hold out a part of it. */
  loss: [number, number] | null;
  /** The mean loss in nats per token of the text that the model learns from. */
  learned: [number, number];
  /** The probability of each token of the shown sentence, except token 0. */
  likely: [number, number][];
  /** The mean Jensen–Shannon divergence of the rows of each head in bits, by layer. */
  heads: number[][];
  /** The attention weights of every head before training, (L,H,T,T). */
  before: Float32Array;
}

/** at: when the model was stored, in milliseconds since 1970. */
export interface StoredModel {
  key: string;
  settings: Settings;
  steps: number;
  at: number;
}
