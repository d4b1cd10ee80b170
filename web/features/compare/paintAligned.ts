// Paints cells on a grid that the tokens of two texts share.

import { type Colours, cross, drawEnlarged, inkPixel, sized } from '../../drawing/paintWeights.ts';
import type { Palette } from '../../drawing/types.ts';
import { MIN_WHOLE_CELL } from '../../ui/layout.ts';
import type { AlignedPicture } from './alignedHeatmap.tsx';

/** Side in pixels of the dot in a cell that only one run has. */
const DOT = 2;

export function paintAligned(canvas: HTMLCanvasElement, picture: AlignedPicture, colours: Colours, palette: Palette) {
  const { plan, names, keys, value, isUnpaired, rowOf, columnOf } = picture;
  const { cell, gap, matrixWidth, matrixHeight } = plan;
  const context = sized(canvas, matrixWidth, matrixHeight);
  if (cell < MIN_WHOLE_CELL) return paintPooled(context, picture, colours, palette);
  const box = Math.max(cell - gap, 0.5);
  for (let t = 0; t < names.length; t++)
    for (let s = 0; s < keys.length; s++) {
      const number = value(t, s);
      const [x, y] = [columnOf(s) * cell, rowOf(t) * cell];
      if (number === undefined) {
        if (!isUnpaired?.(t, s)) continue;
        context.fillStyle = palette.ink3;
        context.fillRect(x + (cell - DOT) / 2, y + (cell - DOT) / 2, DOT, DOT);
      } else if (Number.isNaN(number)) cross(context, x, y, box, palette.ink);
      else {
        context.fillStyle = colours.css(number);
        context.fillRect(x, y, box, box);
      }
    }
}

/** Paints cells smaller than a pixel. Each pixel gets the value with the largest absolute value among its cells. */
function paintPooled(
  context: CanvasRenderingContext2D,
  { plan, names, keys, value, rows, columns, rowOf, columnOf }: AlignedPicture,
  colours: Colours,
  palette: Palette,
) {
  const { matrixWidth, matrixHeight } = plan;
  const [across, down] = [Math.min(columns.n, Math.ceil(matrixWidth)), Math.min(rows.n, Math.ceil(matrixHeight))];
  const image = new ImageData(across, down);
  const pixels = new Uint32Array(image.data.buffer);
  const most = new Float32Array(across * down);
  for (let t = 0; t < names.length; t++) {
    const y = Math.floor((rowOf(t) * down) / rows.n);
    for (let s = 0; s < keys.length; s++) {
      const number = value(t, s);
      if (number === undefined) continue;
      const i = y * across + Math.floor((columnOf(s) * across) / columns.n);
      if (pixels[i] !== 0 && Math.abs(number) <= Math.abs(most[i])) continue;
      most[i] = number;
      pixels[i] = Number.isNaN(number) ? inkPixel(palette) : colours.pixel(number);
    }
  }
  drawEnlarged(context, image, matrixWidth, matrixHeight);
}
