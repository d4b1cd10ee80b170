// The requests of a trace and its answers: see web/features/trace.

import type { GridPart, GridPlace } from '../../../src/js/analysis/patching/patchGrid.ts';
import type { Column } from '../trace/alignWords.ts';
import type { Pair, TaskName } from '../trace/tasks.ts';
import type { Piece } from './protocol.ts';

export type { GridPart, GridPlace };

export interface TraceTasks {
  tasks: { name: TaskName; pairs: Pair[] }[];
}

/** value: the measure of the run. both: the probabilities of the two answers. guess: the likeliest next word. */
export interface TracedRun {
  pieces: Piece[];
  value: number;
  both: [number, number];
  guess: string;
}

export interface TraceRuns {
  layers: number;
  heads: number;
  /** The run from which values are copied. */
  upper: TracedRun;
  /** The run into which the values are copied. */
  lower: TracedRun;
  /** The answers, and the ids of their tokens. */
  answers: [string, string];
  ids: [number[], number[]];
  /** Index of the token whose logits are the prediction, in the upper and in the lower run. */
  places: [number, number];
  columns: Column[];
  /** The first column that is measured. */
  first: number;
  /** 1 for each place whose value is the same in both runs, so that it need not be measured. */
  same: { [part in GridPart]?: Uint8Array };
  total: number;
  /** Why nothing can be measured. noAnswer: a word is not a single token. */
  problem: TraceProblem | null;
}

export type TraceProblem = 'same' | 'sameAnswer' | 'close' | 'noAnswer' | 'noPlace';

/** share: how much of the answer is restored. a and b: the probabilities of the two answers with this place patched. */
export interface TracedCell extends GridPlace {
  share: number;
  value: number;
  a: number;
  b: number;
}

/** left: estimated seconds until all places are measured; null if there is no estimate yet. */
export interface TraceCells {
  cells: TracedCell[];
  done: number;
  total: number;
  left: number | null;
}

/** place: the place that is measured next. */
export interface TraceControl {
  place?: GridPlace | null;
  paused?: boolean;
}
