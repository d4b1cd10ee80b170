// Paints the weights of a picture on its canvas. The weights of one run fade into those of the next.

import { useLayoutEffect, useRef } from 'preact/hooks';
import type { Ramp } from '../../drawing/colourRamp.ts';
import { paintCells, paintPooled, sized } from '../../drawing/paintWeights.ts';
import type { Picture } from '../../drawing/types.ts';
import { eachRun } from '../../model/hiddenCells.ts';
import { effective, placeOfLayer } from '../../model/modelEdits.ts';
import { useColours } from '../../parts/useColours.ts';
import { useSession } from '../../store/context.ts';
import { MIN_WHOLE_CELL } from '../../ui/layout.ts';
import { reducedMotion } from '../../ui/motion.ts';
import { PALETTE, type Theme } from '../../ui/palette.ts';

const FADE_MS = 200;
/** Pictures of more tokens do not fade, because painting a frame would take too long. */
const MAX_FADED_TOKENS = 128;
/** Minimum side of a cell that has room for a slash. */
const MIN_SLASHED_CELL = 5;

export function useMatrixCanvas(picture: Picture | null): { current: HTMLCanvasElement | null } {
  const session = useSession();
  const canvas = useRef(null as HTMLCanvasElement | null);
  const painted = useRef(null as { weights: Float32Array; T: number; S: number } | null);
  const state = session.state.value;
  const theme: Theme = session.theme.value;
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
    const paint = (values: Float32Array) => {
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

/** Interpolates between two arrays of weights, not between their colours; returns a function that stops it. */
function fade(from: Float32Array, to: Float32Array, paint: (values: Float32Array) => void): () => void {
  const start = performance.now();
  let frame = requestAnimationFrame(function step(now) {
    const share = Math.min(Math.max((now - start) / FADE_MS, 0), 1);
    const eased = 1 - (1 - share) ** 2;
    paint(share === 1 ? to : to.map((w, i) => from[i] + eased * (w - from[i])));
    if (share < 1) frame = requestAnimationFrame(step);
  });
  return () => cancelAnimationFrame(frame);
}

function paintSeparate(canvas: HTMLCanvasElement, values: Float32Array, picture: Picture, ramp: Ramp, theme: Theme) {
  const { T, S, cell, gap, matrixWidth, matrixHeight, full } = picture;
  const context = sized(canvas, matrixWidth, matrixHeight);
  paintCells(context, values, T, S, { cell, gap, full }, ramp, PALETTE[theme]);
  slashMasked(context, picture, PALETTE[theme].ink2);
}

function paintDense(
  canvas: HTMLCanvasElement,
  { weights, T, S, matrixWidth, matrixHeight, full }: Picture,
  ramp: Ramp,
  theme: Theme,
) {
  const room = { wide: matrixWidth, side: matrixHeight, full };
  paintPooled(canvas, weights, T, S, room, ramp, PALETTE[theme]);
}

/** Draws a slash in the empty cell of each key that is masked although it is not after its query. */
function slashMasked(context: CanvasRenderingContext2D, { run, T, S, cell, full }: Picture, colour: string) {
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

/** Clears the cells masked by hand (`hidden`: see hiddenCells.ts), where cells are too small for a slash. */
function clearHidden(canvas: HTMLCanvasElement, hidden: string, cell: number) {
  const context = canvas.getContext('2d');
  if (hidden) eachRun(hidden, (t, from, to) => context?.clearRect(from * cell, t * cell, (to - from + 1) * cell, cell));
}
