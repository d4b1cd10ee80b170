// The request for the probability of each token of a text, and its answer: see web/features/text.

import type { Piece, Prediction, State } from './protocol.js';

/** The run that the thin line shows: see otherCase in features/whatif/modelEdits.js. */
export type OtherKind = 'pinned' | 'with' | 'before' | 'without';

export interface SurpriseRequests {
  /** The probability of each token of the text, and what else the model guessed there. */
  surprise: { state: State };
}

/** A text whose tokens are going to be measured. */
export interface SurpriseText {
  /** The text, which later changes of the state do not affect. */
  text: string;
  pieces: Piece[];
  /** True if each token is masked once; otherwise it is guessed after the tokens before it. */
  masked: boolean;
  /** Null if there is no other case. */
  kind: OtherKind | null;
  /** Tokens for which no guess is possible. */
  silent: number[];
  total: number;
}

/**
 * guesses: the likeliest labels in the run that is shown, with the token itself among them; `now` is their probability
 * in the run `which`.
 */
export interface SurprisedToken {
  t: number;
  id: number;
  probability: number;
  /** True if it was the likeliest. */
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
