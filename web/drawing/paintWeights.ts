// Paints weights on a canvas.

import { isAhead } from '../model/derivation.ts';

import type { Ramp } from './colourRamp.ts';
import type { Palette } from './types.ts';

/** colours of values: a ramp, or the colours of differences */
export type Colours = Pick<Ramp, 'css' | 'pixel'>;

/** Sets the size of a canvas in CSS pixels, at the resolution of the screen, and clears the canvas. */
export function sized(canvas: HTMLCanvasElement, width: number, height: number) {
  const ratio = Math.min(globalThis.devicePixelRatio || 1, 3);
  const [w, h] = [Math.max(Math.round(width * ratio), 1), Math.max(Math.round(height * ratio), 1)];
  if (canvas.width !== w || canvas.height !== h) Object.assign(canvas, { width: w, height: h });
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const context = canvas.getContext('2d') as CanvasRenderingContext2D;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return context;
}

/** Paints weights (T,S). A pixel is the largest of its cells, as a mean would hide stripes. `room`: CSS pixels. */
export function paintPooled(
  canvas: HTMLCanvasElement,
  weights: Float32Array,
  T: number,
  S: number,
  { wide, side, full }: { wide: number; side: number; full?: boolean },
  ramp: Colours,
  palette: Palette,
) {
  const context = sized(canvas, wide, side);
  const ratio = globalThis.devicePixelRatio || 1;
  const across = Math.min(S, Math.max(Math.round(wide * ratio), 1));
  const down = Math.min(T, Math.max(Math.round(side * ratio), 1));
  const image = new ImageData(across, down);
  const pixels = new Uint32Array(image.data.buffer);
  const first = (i: number, count: number, dots: number) => Math.floor((i * count) / dots);
  for (let y = 0; y < down; y++) {
    const [top, bottom] = [first(y, T, down), Math.max(first(y + 1, T, down), first(y, T, down) + 1)];
    for (let x = 0; x < across; x++) {
      const [left, right] = [first(x, S, across), Math.max(first(x + 1, S, across), first(x, S, across) + 1)];
      let most = Number.NEGATIVE_INFINITY;
      for (let t = top; t < bottom; t++)
        for (let s = left; s < right; s++) {
          const weight = weights[t * S + s];
          // NaN counts as larger than any weight, so that it is visible.
          if (!(weight <= most) && !Number.isNaN(most) && !isAhead(weight, t, s, full)) most = weight;
        }
      if (most !== Number.NEGATIVE_INFINITY)
        pixels[y * across + x] = Number.isNaN(most) ? inkPixel(palette) : ramp.pixel(most);
    }
  }
  drawEnlarged(context, image, wide, side);
}

export function drawEnlarged(context: CanvasRenderingContext2D, image: ImageData, width: number, height: number) {
  const small = Object.assign(document.createElement('canvas'), { width: image.width, height: image.height });
  small.getContext('2d')?.putImageData(image, 0, 0);
  context.imageSmoothingEnabled = false;
  context.drawImage(small, 0, 0, width, height);
}

/** Paints a thumbnail of weights (T,S) into a square of side `size`, in proportion. `full`: see paintCells. */
export function paintWeights(
  canvas: HTMLCanvasElement,
  weights: Float32Array,
  T: number,
  S: number,
  size: number,
  full: boolean,
  ramp: Colours,
  palette: Palette,
) {
  const share = size / Math.max(T, S, 1);
  const room = { wide: Math.max(Math.round(share * S), 1), side: Math.max(Math.round(share * T), 1), full };
  paintPooled(canvas, weights, T, S, room, ramp, palette);
}

/** Returns the colour of text as the four bytes of a pixel. */
export const inkPixel = ({ ink }: Pick<Palette, 'ink'>) => {
  const [r, g, b] = [1, 3, 5].map((at) => Number.parseInt(ink.slice(at, at + 2), 16));
  return new Uint32Array(new Uint8Array([r, g, b, 255]).buffer)[0];
};

/** Paints cells (T,S) with gaps; NaN is a cross in a frame. `full`: keys after their query are drawn too. */
export function paintCells(
  context: CanvasRenderingContext2D,
  weights: Float32Array,
  T: number,
  S: number,
  { cell, gap, full }: { cell: number; gap: number; full?: boolean },
  ramp: Colours,
  palette: Palette,
) {
  for (let t = 0; t < T; t++)
    for (let s = 0; s < S; s++) {
      const weight = weights[t * S + s];
      if (isAhead(weight, t, s, full)) continue;
      const [x, y, side] = [s * cell, t * cell, Math.max(cell - gap, 0.5)];
      if (Number.isNaN(weight)) cross(context, x, y, side, palette.ink);
      else {
        context.fillStyle = ramp.css(weight);
        context.fillRect(x, y, side, side);
      }
    }
}

export function cross(context: CanvasRenderingContext2D, x: number, y: number, side: number, ink: string) {
  context.strokeStyle = ink;
  context.lineWidth = 1;
  context.strokeRect(x + 0.5, y + 0.5, side - 1, side - 1);
  context.beginPath();
  context.moveTo(x, y);
  context.lineTo(x + side, y + side);
  context.moveTo(x + side, y);
  context.lineTo(x, y + side);
  context.stroke();
}
