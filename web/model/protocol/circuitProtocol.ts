// The requests of a circuit and its answers: see web/features/circuit.

import type { Node } from '../../../src/js/analysis/circuits/edges.ts';
import type { Carries } from '../circuit/settings.ts';
import type { Piece, State } from './protocol.ts';

export type { Node };

export interface CircuitRequests {
  /**
   * Measures a circuit's edges, without cuts: an edge (on the page a line) goes from the output of the embedding, a
   * head or an MLP to the input of a later head or MLP or of the logits.
   */
  circuit: { state: State };
  /** Cuts the edges of state.circuit.cut. lines: names of the other edges whose costs are measured with these cuts. */
  circuitCut: { state: State; lines: string[] };
}

/** A part of the answer. `lines` and `points` are added to those of earlier parts; `begun` starts an empty circuit. */
export interface CircuitPart {
  begun?: CircuitBegun;
  work?: CircuitWork;
  lines?: MeasuredLine[];
  /** Names of edges that together keep most of the prediction. */
  needed?: string[];
  points?: CurvePoint[];
  cuts?: CircuitCuts | null;
}

/**
 * Why there is no circuit. refused: the logits are not a sum over heads and MLPs. packed: quantized weights have no
 * gradients. length: the sentences differ in tokens. close: the value hardly changes without all edges. noAnswer: a
 * word is not one token. noPlace: a sentence has no tokens.
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
  /** The likeliest next word of each sentence, or the words that the visitor has chosen. */
  answers: string[];
  /** True if there is another sentence with a different answer. */
  paired: boolean;
  carries: Carries;
  whole: CircuitValue;
  /** The number of edges of the model. */
  total: number;
  problem: CircuitProblem | null;
  /** The model's family if `problem` is 'refused', or the word that is not a single token. */
  cause?: string;
  lengths?: number[];
}

/** left: estimated seconds until the stage ends; null if there is no estimate yet. */
export interface CircuitWork {
  stage: 'corpus' | 'order' | 'lines' | 'needed' | 'curve' | 'done';
  done: number;
  total: number;
  left: number | null;
}

/** An edge, and the value of a run in which only this edge is cut. terms: the edge's estimated cost at each token. */
export interface MeasuredLine extends CircuitValue {
  name: string;
  from: Node;
  to: Node;
  terms: number[];
}

/** kept: the share of the value that remains with only the first `count` edges, or with `count` random edges. */
export interface CurvePoint extends CircuitValue {
  count: number;
  random: boolean;
  kept: number;
}

/** The results of runs in which some edges are cut. */
export interface CircuitCuts {
  cut: string[];
  now: CircuitValue;
  /** The likeliest word with these cuts. */
  guess: { text: string; probability: number };
  /** For each of the requested edges, the value if this edge is cut as well. */
  lines: { [name: string]: CircuitValue };
  /** The strongest key before the cuts and its weight before and now, in the head where the last cut ends; or null */
  looks: { head: { layer: number; head: number }; token: number; key: number; before: number; now: number } | null;
  /** The value with all edges cut that leave the source of the last edge that was cut; null until it is measured. */
  sourceOff: CircuitValue | null;
}
