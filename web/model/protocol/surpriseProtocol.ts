// The request for the probability of each token of a text, and its answer: see web/features/text.

import type { Piece, Prediction, State } from './protocol.ts';

export type OtherKind = 'pinned' | 'with' | 'before' | 'without';

export interface SurpriseRequests {
  /** Measures the probability of each token of the text, and lists the likeliest tokens at the same position. */
  surprise: { state: State };
}

/** A text whose tokens are going to be measured. */
export interface SurpriseText {
  /** The text at the time of the request, which later changes of the state do not affect. */
  text: string;
  pieces: Piece[];
  /** True if each token is masked in a run of its own; false if it is predicted from the tokens before it. */
  masked: boolean;
  /** The kind of the run that the shown run is compared with; null if there is none. */
  kind: OtherKind | null;
  /** Indices of the tokens that the model cannot predict. */
  silent: number[];
  total: number;
}

/** guesses: the likeliest labels and the token itself; `now`: probability in the run that `which` names */
export interface SurprisedToken {
  t: number;
  id: number;
  probability: number;
  /** True if the token was the likeliest. */
  first: boolean;
  guesses: Prediction[];
}

export interface SurprisedTokens {
  which: 'now' | 'other';
  tokens: SurprisedToken[];
  done: number;
}

export interface SurpriseParts {
  surpriseText: SurpriseText;
  surprised: SurprisedTokens;
}
