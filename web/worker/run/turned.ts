// Computes the angles by which a change turns the hidden states of a model without a prediction.

import { anglesBetween } from '../../../src/js/analysis/hiddenAngle.ts';
import type { Piece } from '../../model/protocol/protocol.ts';
import type { Numbers } from '../sources/types.ts';
import { likeliest } from './predictions.ts';

/** The number of tokens that are listed. */
const TOP = 5;

/** Returns the mean angle in degrees, and the tokens with the largest angles; null for texts of different lengths. */
export function turnedFrom(before: Numbers, now: Numbers, pieces: Piece[]) {
  const angles = anglesBetween(before, now);
  if (!angles) return null;
  return {
    mean: angles.reduce((sum, angle) => sum + angle, 0) / Math.max(angles.length, 1),
    most: likeliest(angles, TOP).map((t) => ({ text: pieces[t]?.name ?? String(t), angle: angles[t] })),
  };
}
