// The requests of a circuit and its answers: see web/features/circuit.

import type { Node } from '../../src/js/analysis/edges.js';
import type { Carries } from '../features/circuit/settings.js';
import type { Piece, State } from './protocol.js';

export type { Node };

export interface CircuitRequests {
  /** The lines of a circuit, without cuts. */
  circuit: { state: State };
  /** The same with the lines of state.circuit.cut cut. lines: names of those whose costs are measured again. */
  circuitCut: { state: State; lines: string[] };
}

/** News: lines and points are added to those before. begun: all of it begins. */
export interface CircuitPart {
  begun?: CircuitBegun;
  work?: CircuitWork;
  lines?: MeasuredLine[];
  points?: CurvePoint[];
  cuts?: CircuitCuts | null;
}

/**
 * Why there is no circuit. refused: the parts of this model do not add up. packed: its weights have no gradients.
 * length: the sentences have different numbers of tokens. noAnswer: a word is not a single token.
 */
export type CircuitProblem = 'refused' | 'packed' | 'length' | 'close' | 'noAnswer' | 'noPlace';

/** value: the lead of the first answer, or its probability. both: the probabilities of the answers. */
export interface CircuitValue {
  value: number;
  both: number[];
}

export interface CircuitBegun {
  layers: number;
  heads: number;
  /** Heads with the same keys. */
  perGroup: number;
  pieces: Piece[];
  /** The guess; with another sentence, also its guess. */
  answers: string[];
  /** True if there is another sentence, with an answer of its own. */
  paired: boolean;
  carries: Carries;
  whole: CircuitValue;
  /** All lines of the model. */
  total: number;
  problem: CircuitProblem | null;
  /** The family that is refused, or the word that is no token. */
  cause?: string;
  /** Numbers of tokens of both sentences. */
  lengths?: number[];
}

/** left: seconds that the rest will probably take. */
export interface CircuitWork {
  stage: 'corpus' | 'order' | 'lines' | 'curve' | 'done';
  done: number;
  total: number;
  left: number | null;
}

/** A line that was cut alone. terms: of its estimate, one for each token. */
export interface MeasuredLine extends CircuitValue {
  name: string;
  from: Node;
  to: Node;
  terms: number[];
}

/** kept: the share of the value that remains if all but `count` lines are cut: the strongest, or some at random. */
export interface CurvePoint extends CircuitValue {
  count: number;
  random: boolean;
  kept: number;
}

/** With some lines cut. */
export interface CircuitCuts {
  cut: string[];
  now: CircuitValue;
  /** The likeliest word now. */
  guess: { text: string; probability: number };
  /** With one more line cut. */
  lines: { [name: string]: CircuitValue };
  /** The key with the largest weight at the target of the last cut, before and now; null if the target is no head. */
  looks: { head: { layer: number; head: number }; token: number; key: number; before: number; now: number } | null;
  /** With all lines of the source of the last cut cut. */
  sourceOff: CircuitValue | null;
}
