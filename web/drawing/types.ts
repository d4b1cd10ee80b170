// Types that the features share: what a run contains, and the geometry of its picture.

import type { HeadValues, Label } from '../model/protocol/protocol.ts';
import type { Cell } from '../model/state.ts';
import type { Piece } from '../model/tokens.ts';
import type { Run, RunWithValues } from '../model/types.ts';
import type { PALETTE } from '../ui/palette.ts';

export type { Cell, HeadValues, Label, Piece, Run, RunWithValues };
export type Palette = (typeof PALETTE)['light'];

/** The matrix of cells, in CSS pixels from the top left corner of the view. */
export interface Grid {
  T: number;
  S: number;
  names: string[];
  keys: string[];
  /** Left edge of the first column and top edge of the first row. */
  x: number;
  y: number;
  /** Side of a cell including the gap, and the gap that separates it from the next cell. */
  cell: number;
  gap: number;
  matrixWidth: number;
  matrixHeight: number;
  fontSize: number;
  /** True if cells above the diagonal are drawn, so that the labels of the keys are above the matrix. */
  full: boolean;
  /** True if every label above a full matrix is narrower than its column. */
  level: boolean;
}

/** The large picture of one head. */
export interface Picture extends Grid {
  run: Run;
  /** Weights (T,S) of the shown head, or their mean over several heads. */
  weights: Float32Array;
  /** Rows in which the head's pattern has no match, see heads/roles.ts. */
  unmatchedRows: number[];
  /** above: the head's title is above the matrix, not in its empty half; stacked: it has two lines. */
  above: boolean;
  stacked: boolean;
  /** Height of the title and the labels above the matrix. */
  top: number;
  /** Height below the matrix for the spectrogram of its keys. */
  foot: number;
  /** Width from the first column to the end of the view. */
  widthFromX: number;
}

/** The room and the options of a view. */
export interface ViewProps {
  width: number;
  height: number;
  /** Largest font size of a label, in CSS pixels. */
  most: number;
  /** True on a small screen, where texts are the shortest ones. */
  compact?: boolean;
  /** True if the view may be higher than `height`. */
  free?: boolean;
  /** True if the head's title is displayed elsewhere. */
  bare?: boolean;
}
