// The requests of a circuit and its answers: see web/features/circuit.

import type { Node } from '../../src/js/analysis/edges.js';
import type { Carries } from '../features/circuit/settings.js';
import type { Piece, State } from './protocol.js';

export type { Node };

export interface CircuitRequests {
  /** Measures the lines of a circuit, without cuts. A line goes from one part of the model to the input of another. */
  circuit: { state: State };
  /** Cuts the lines of state.circuit.cut. lines: names of the other lines whose costs are measured with these cuts. */
  circuitCut: { state: State; lines: string[] };
}

/** One part of the answer. lines and points are added to the earlier ones; `begun` starts a new circuit without any. */
export interface CircuitPart {
  begun?: CircuitBegun;
  work?: CircuitWork;
  lines?: MeasuredLine[];
  points?: CurvePoint[];
  cuts?: CircuitCuts | null;
}

/**
 * Why there is no circuit. refused: the logits of this model are not a sum over its parts. packed: quantized weights
 * have no gradients. length: the sentences have different numbers of tokens. close: the value hardly changes if all
 * lines are cut. noAnswer: a word is not a single token. noPlace: a sentence has no tokens.
 */
export type CircuitProblem = 'refused' | 'packed' | 'length' | 'close' | 'noAnswer' | 'noPlace';

/** value: the logit of the first answer minus that of the second, or the probability of the only answer. */
export interface CircuitValue {
  value: number;
  /** The probabilities of the answers. */
  both: number[];
}

export interface CircuitBegun {
  layers: number;
  heads: number;
  /** Heads that share one key and value head. */
  perGroup: number;
  pieces: Piece[];
  /** The likeliest word after each of the sentences, or the words that the visitor has chosen. */
  answers: string[];
  /** True if there is another sentence with a different answer. */
  paired: boolean;
  carries: Carries;
  whole: CircuitValue;
  /** The number of lines of the model. */
  total: number;
  problem: CircuitProblem | null;
  /** The family that is refused, or the word that is not a single token. */
  cause?: string;
  /** Numbers of tokens of both sentences. */
  lengths?: number[];
}

/** left: estimated seconds until the stage ends; null if there is no estimate yet. */
export interface CircuitWork {
  stage: 'corpus' | 'order' | 'lines' | 'curve' | 'done';
  done: number;
  total: number;
  left: number | null;
}

/** A line with the value of a run in which only it is cut. terms: the line's estimated cost, a term for each token. */
export interface MeasuredLine extends CircuitValue {
  name: string;
  from: Node;
  to: Node;
  terms: number[];
}

/** kept: the share of the value that remains with only the `count` strongest lines, or with `count` random lines. */
export interface CurvePoint extends CircuitValue {
  count: number;
  random: boolean;
  kept: number;
}

/** The results of runs with some lines cut. */
export interface CircuitCuts {
  cut: string[];
  now: CircuitValue;
  /** The likeliest word with these cuts. */
  guess: { text: string; probability: number };
  /** The value with one more line cut, by the name of that line. */
  lines: { [name: string]: CircuitValue };
  /** The strongest key of the last cut's target head, with its weight before and now; null if the target is no head. */
  looks: { head: { layer: number; head: number }; token: number; key: number; before: number; now: number } | null;
  /** The value with all lines from the last cut's source cut; null until it is measured. */
  sourceOff: CircuitValue | null;
}
