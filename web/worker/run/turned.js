// Computes the angles by which a change turns the hidden states of a model without a prediction.

import { anglesBetween } from '../../../src/js/analysis/hiddenAngle.js';
import { likeliest } from './predictions.js';

/** @import { Piece } from '../../store/protocol.js' */
/** @import { Numbers } from '../sources/types.js' */

/** The number of tokens that are listed. */
const TOP = 5;

/**
 * Returns the mean angle in degrees, and the tokens with the largest angles; null for texts of different lengths.
 * @param {Numbers} before
 * @param {Numbers} now
 * @param {Piece[]} pieces
 */
export function turnedFrom(before, now, pieces) {
  const angles = anglesBetween(before, now);
  if (!angles) return null;
  return {
    mean: angles.reduce((sum, angle) => sum + angle, 0) / Math.max(angles.length, 1),
    most: likeliest(angles, TOP).map((t) => ({ text: pieces[t]?.name ?? String(t), angle: angles[t] })),
  };
}
