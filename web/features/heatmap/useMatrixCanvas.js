// Paints the weights of a picture on its canvas. The weights of one run fade into those of the next.

import { useLayoutEffect, useRef } from 'preact/hooks';
import { useSession } from '../../ui/context.js';
import { MIN_WHOLE_CELL } from '../../ui/layout.js';
import { reducedMotion } from '../../ui/motion.js';
import { PALETTE } from '../../ui/palette.js';
import { eachRun } from '../mask/hiddenCells.js';
import { effective, placeOfLayer } from '../whatif/modelEdits.js';
import { paintCells, paintPooled, sized } from './paintWeights.js';
import { useColours } from './useColours.js';

/** @import { Theme } from '../../ui/palette.js' */
/** @import { Ramp } from './colourRamp.js' */
/** @import { Picture } from './types.js' */

const FADE_MS = 200;
/** Pictures of more tokens do not fade, because painting a frame would take too long. */
const MAX_FADED_TOKENS = 128;
/** Minimum side of a cell that has room for a slash. */
const MIN_SLASHED_CELL = 5;

/**
 * @param {Picture | null} picture
 * @returns {{ current: HTMLCanvasElement | null }} the ref of the canvas
 */
export function useMatrixCanvas(picture) {
  const session = useSession();
  const canvas = useRef(/** @type {HTMLCanvasElement | null} */ (null));
  const painted = useRef(/** @type {{ weights: Float32Array, T: number, S: number } | null} */ (null));
  const state = session.state.value;
  /** @type {Theme} */
  const theme = session.theme.value;
  const ramp = useColours();
  // A layout effect, so that the title and the picture never show two runs in one frame.
  useLayoutEffect(() => {
    if (!picture || !canvas.current) return;
    const { weights, T, S, cell } = picture;
    const before = painted.current;
    painted.current = cell < MIN_WHOLE_CELL ? null : { weights: new Float32Array(weights), T, S };
    if (cell < MIN_WHOLE_CELL) {
      paintDense(canvas.current, picture, ramp, theme);
      const hidden = picture.run.joined ? '' : effective(state.painted, placeOfLayer(session), state.head, '');
      return clearHidden(canvas.current, hidden, cell);
    }
    const paint = (/** @type {Float32Array} */ values) => {
      // The canvas may have been removed between two frames.
      if (canvas.current) paintSeparate(canvas.current, values, picture, ramp, theme);
    };
    const isSameShape = before?.T === T && before.S === S;
    if (!before || !isSameShape || reducedMotion() || T > MAX_FADED_TOKENS) return paint(weights);
    return fade(before.weights, weights, paint);
  }, [
    picture?.weights.buffer,
    picture?.weights.byteOffset,
    picture?.cell,
    picture?.matrixHeight,
    theme,
    state.colours,
  ]);
  return canvas;
}

/**
 * Interpolates between two arrays of weights, not between their colours.
 * @param {Float32Array} from @param {Float32Array} to @param {(values: Float32Array) => void} paint
 * @returns {() => void} a function that stops the animation
 */
function fade(from, to, paint) {
  const start = performance.now();
  let frame = requestAnimationFrame(function step(now) {
    const share = Math.min(Math.max((now - start) / FADE_MS, 0), 1);
    const eased = 1 - (1 - share) ** 2;
    paint(share === 1 ? to : to.map((w, i) => from[i] + eased * (w - from[i])));
    if (share < 1) frame = requestAnimationFrame(step);
  });
  return () => cancelAnimationFrame(frame);
}

/**
 * @param {HTMLCanvasElement} canvas @param {Float32Array} values @param {Picture} picture
 * @param {Ramp} ramp @param {Theme} theme
 */
function paintSeparate(canvas, values, picture, ramp, theme) {
  const { T, S, cell, gap, matrixWidth, matrixHeight, full } = picture;
  const context = sized(canvas, matrixWidth, matrixHeight);
  paintCells(context, values, T, S, { cell, gap, full }, ramp, PALETTE[theme]);
  slashMasked(context, picture, PALETTE[theme].ink2);
}

/** @param {HTMLCanvasElement} canvas @param {Picture} picture @param {Ramp} ramp @param {Theme} theme */
function paintDense(canvas, { weights, T, S, matrixWidth, matrixHeight, full }, ramp, theme) {
  const room = { wide: matrixWidth, side: matrixHeight, full };
  paintPooled(canvas, weights, T, S, room, ramp, PALETTE[theme]);
}

/**
 * Draws a slash in the empty cell of each key that is masked although it is not after its query.
 * @param {CanvasRenderingContext2D} context @param {Picture} picture @param {string} colour
 */
function slashMasked(context, { run, T, S, cell, full }, colour) {
  const scores = run.values?.scores;
  if (!scores || cell < MIN_SLASHED_CELL) return;
  context.strokeStyle = colour;
  context.lineWidth = 1;
  context.beginPath();
  for (let t = 0; t < T; t++)
    for (let s = 0; s < (full ? S : t + 1); s++)
      if (scores[t * S + s] === Number.NEGATIVE_INFINITY) {
        context.clearRect(s * cell, t * cell, cell, cell);
        context.moveTo((s + 0.35) * cell, (t + 0.65) * cell);
        context.lineTo((s + 0.65) * cell, (t + 0.35) * cell);
      }
  context.stroke();
}

/**
 * Clears the cells that are masked by hand, in a picture whose cells are too small for a slash.
 * @param {HTMLCanvasElement} canvas @param {string} hidden see mask/hiddenCells.js @param {number} cell
 */
function clearHidden(canvas, hidden, cell) {
  const context = canvas.getContext('2d');
  if (hidden) eachRun(hidden, (t, from, to) => context?.clearRect(from * cell, t * cell, (to - from + 1) * cell, cell));
}
