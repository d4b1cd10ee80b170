// Cells at places of a grid that two texts share.

import { cross, inkPixel, sized } from '../heatmap/paint.js';

/** Cells of this many pixels and more are drawn one by one. */
const APART = 4;

/**
 * Tokens that stand at places of a larger grid, see compare.jsx; `value` gives undefined for what is no cell, `alone`
 * says where a dot stands.
 * @param {any} canvas
 * @param {any} grid
 * @param {any} colours
 * @param {any} palette
 */
export function paintPlaced(canvas, { T, S, cell, gap, side, wide, value, alone, ...places }, colours, palette) {
  const context = sized(canvas, wide, side);
  const { placeRow, placeColumn } = places;
  if (cell < APART) return paintScattered(context, { T, S, side, wide, value, ...places }, colours, palette);
  const box = Math.max(cell - gap, 0.5);
  for (let t = 0; t < T; t++)
    for (let s = 0; s < S; s++) {
      const number = value(t, s);
      const [x, y] = [placeColumn(s) * cell, placeRow(t) * cell];
      if (number === undefined) {
        if (!alone?.(t, s)) continue;
        context.fillStyle = palette.ink3;
        context.fillRect(x + cell / 2 - 1, y + cell / 2 - 1, 2, 2);
      } else if (Number.isNaN(number)) cross(context, x, y, box, palette.ink);
      else {
        context.fillStyle = colours.css(number);
        context.fillRect(x, y, box, box);
      }
    }
}

/** Of many cells the greatest of every pixel. */
function paintScattered(context, { T, S, side, wide, value, rows, columns, placeRow, placeColumn }, colours, palette) {
  const [across, down] = [Math.min(columns.n, Math.ceil(wide)), Math.min(rows.n, Math.ceil(side))];
  const image = new ImageData(across, down);
  const pixels = new Uint32Array(image.data.buffer);
  const most = new Float32Array(across * down);
  for (let t = 0; t < T; t++) {
    const y = Math.floor((placeRow(t) * down) / rows.n);
    for (let s = 0; s < S; s++) {
      const number = value(t, s);
      if (number === undefined) continue;
      const at = y * across + Math.floor((placeColumn(s) * across) / columns.n);
      if (pixels[at] !== 0 && Math.abs(number) <= Math.abs(most[at])) continue;
      most[at] = number;
      pixels[at] = Number.isNaN(number) ? inkPixel(palette) : colours.pixel(number);
    }
  }
  const small = Object.assign(document.createElement('canvas'), { width: across, height: down });
  small.getContext('2d')?.putImageData(image, 0, 0);
  context.imageSmoothingEnabled = false;
  context.drawImage(small, 0, 0, wide, side);
}
