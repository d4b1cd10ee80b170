// Weights on a canvas.

import { isAhead } from '../reading/derivation.js';

/** A canvas of a size in CSS pixels, sharp on its screen. */
export function sized(canvas, width, height) {
  const ratio = Math.min(globalThis.devicePixelRatio || 1, 3);
  const [w, h] = [Math.max(Math.round(width * ratio), 1), Math.max(Math.round(height * ratio), 1)];
  if (canvas.width !== w || canvas.height !== h) Object.assign(canvas, { width: w, height: h });
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const context = canvas.getContext('2d');
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return context;
}

/**
 * A pixel for a cell, enlarged to whole pixels where there are few, the largest of several where there are many: a mean
 * would lose a stripe.
 * @param {any} canvas
 * @param {Float32Array} weights (T,S)
 * @param {number} T
 * @param {number} S
 * @param {{ wide: number, side: number, full?: boolean }} room in CSS pixels
 * @param {any} ramp
 * @param {any} palette
 */
export function paintPooled(canvas, weights, T, S, { wide, side, full }, ramp, palette) {
  const context = sized(canvas, wide, side);
  const ratio = globalThis.devicePixelRatio || 1;
  const across = Math.min(S, Math.max(Math.round(wide * ratio), 1));
  const down = Math.min(T, Math.max(Math.round(side * ratio), 1));
  const image = new ImageData(across, down);
  const pixels = new Uint32Array(image.data.buffer);
  const from = (i, count, dots) => Math.floor((i * count) / dots);
  for (let y = 0; y < down; y++) {
    const [top, bottom] = [from(y, T, down), Math.max(from(y + 1, T, down), from(y, T, down) + 1)];
    for (let x = 0; x < across; x++) {
      const [left, right] = [from(x, S, across), Math.max(from(x + 1, S, across), from(x, S, across) + 1)];
      let most = Number.NEGATIVE_INFINITY;
      for (let t = top; t < bottom; t++)
        for (let s = left; s < right; s++) {
          const weight = weights[t * S + s];
          // NaN is more than any weight: it must be seen.
          if (!(weight <= most) && !Number.isNaN(most) && !isAhead(weight, t, s, full)) most = weight;
        }
      if (most !== Number.NEGATIVE_INFINITY)
        pixels[y * across + x] = Number.isNaN(most) ? inkPixel(palette) : ramp.pixel(most);
    }
  }
  const small = Object.assign(document.createElement('canvas'), { width: across, height: down });
  small.getContext('2d')?.putImageData(image, 0, 0);
  context.imageSmoothingEnabled = false;
  context.drawImage(small, 0, 0, wide, side);
}

/** A thumbnail: as large as it can be in a square of a size. */
export function paintWeights(canvas, weights, T, S, size, full, ramp, palette) {
  const share = size / Math.max(T, S, 1);
  const room = { wide: Math.max(Math.round(share * S), 1), side: Math.max(Math.round(share * T), 1), full };
  paintPooled(canvas, weights, T, S, room, ramp, palette);
}

export const inkPixel = ({ ink }) => {
  const [r, g, b] = [1, 3, 5].map((at) => Number.parseInt(ink.slice(at, at + 2), 16));
  return new Uint32Array(new Uint8Array([r, g, b, 255]).buffer)[0];
};

/**
 * The large picture: cells with a line of canvas between them, NaN as a framed cross.
 * @param {any} context
 * @param {Float32Array} weights (T,S)
 * @param {number} T
 * @param {number} S
 * @param {{ cell: number, gap: number, full?: boolean }} grid full: nothing is hidden for coming later
 * @param {any} ramp
 * @param {any} palette
 */
export function paintCells(context, weights, T, S, { cell, gap, full }, ramp, palette) {
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

export function cross(context, x, y, side, ink) {
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
