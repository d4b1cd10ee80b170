// The requests of a trace and its answers: see web/features/trace.

import type { GridPart, GridPlace } from '../../src/js/analysis/patchGrid.js';
import type { Column } from '../features/trace/alignWords.js';
import type { Pair, TaskName } from '../features/trace/tasks.js';
import type { Piece } from './protocol.js';

export type { GridPart, GridPlace };

/** The ready-made tasks; without pairs if the tokenizer of the model does not fit. */
export interface TraceTasks {
  tasks: { name: TaskName; pairs: Pair[] }[];
}

/** value: its measure. both: the probabilities of the two answers. guess: the likeliest next word. */
export interface TracedRun {
  pieces: Piece[];
  value: number;
  both: [number, number];
  guess: string;
}

/** The two runs that a trace begins with. */
export interface TraceRuns {
  layers: number;
  heads: number;
  /** The run that values are taken from. */
  upper: TracedRun;
  /** The run that they are put into. */
  lower: TracedRun;
  /** The answers, and the ids of their tokens. */
  answers: [string, string];
  ids: [number[], number[]];
  /** The token whose logits are the prediction: of the upper and of the lower run. */
  places: [number, number];
  columns: Column[];
  /** The first column that is measured. */
  first: number;
  /** Places with equal values in both runs, which need no run of their own: 1. */
  same: { [part in GridPart]?: Uint8Array };
  total: number;
  /** Why nothing can be measured. noAnswer: a word is not a single token. */
  problem: TraceProblem | null;
}

export type TraceProblem = 'same' | 'sameAnswer' | 'close' | 'noAnswer' | 'noPlace';

/** a and b: the probabilities of the answers with this place patched. */
export interface TracedCell extends GridPlace {
  share: number;
  value: number;
  a: number;
  b: number;
}

/** left: seconds that the other places will probably take. */
export interface TraceCells {
  cells: TracedCell[];
  done: number;
  total: number;
  left: number | null;
}

/** place: it is measured next. */
export interface TraceControl {
  place?: GridPlace | null;
  paused?: boolean;
}
