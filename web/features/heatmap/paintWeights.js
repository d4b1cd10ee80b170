// Paints weights on a canvas.

import { isAhead } from '../reading/derivation.js';

/** @import { Ramp } from './colourRamp.js' */
/** @import { Palette } from './types.js' */

/** @typedef {Pick<Ramp, 'css' | 'pixel'>} Colours colours of values: a ramp, or the colours of differences */

/**
 * Sets the size of a canvas in CSS pixels, at the resolution of the screen, and clears the canvas.
 * @param {HTMLCanvasElement} canvas @param {number} width @param {number} height
 */
export function sized(canvas, width, height) {
  const ratio = Math.min(globalThis.devicePixelRatio || 1, 3);
  const [w, h] = [Math.max(Math.round(width * ratio), 1), Math.max(Math.round(height * ratio), 1)];
  if (canvas.width !== w || canvas.height !== h) Object.assign(canvas, { width: w, height: h });
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d'));
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return context;
}

/**
 * Paints weights so that each pixel is one cell, or the largest of several cells if there are more cells than pixels. A
 * mean of cells would hide narrow stripes.
 * @param {HTMLCanvasElement} canvas
 * @param {Float32Array} weights (T,S)
 * @param {number} T
 * @param {number} S
 * @param {{ wide: number, side: number, full?: boolean }} room width and height in CSS pixels
 * @param {Colours} ramp
 * @param {Palette} palette
 */
export function paintPooled(canvas, weights, T, S, { wide, side, full }, ramp, palette) {
  const context = sized(canvas, wide, side);
  const ratio = globalThis.devicePixelRatio || 1;
  const across = Math.min(S, Math.max(Math.round(wide * ratio), 1));
  const down = Math.min(T, Math.max(Math.round(side * ratio), 1));
  const image = new ImageData(across, down);
  const pixels = new Uint32Array(image.data.buffer);
  const first = (/** @type {number} */ i, /** @type {number} */ count, /** @type {number} */ dots) =>
    Math.floor((i * count) / dots);
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

/**
 * Draws an image in another size, without smoothing.
 * @param {CanvasRenderingContext2D} context @param {ImageData} image @param {number} width @param {number} height
 */
export function drawEnlarged(context, image, width, height) {
  const small = Object.assign(document.createElement('canvas'), { width: image.width, height: image.height });
  small.getContext('2d')?.putImageData(image, 0, 0);
  context.imageSmoothingEnabled = false;
  context.drawImage(small, 0, 0, width, height);
}

/**
 * Paints a thumbnail into a square, as large as its proportions allow.
 * @param {HTMLCanvasElement} canvas
 * @param {Float32Array} weights (T,S)
 * @param {number} T
 * @param {number} S
 * @param {number} size side of the square
 * @param {boolean} full see paintCells
 * @param {Colours} ramp
 * @param {Palette} palette
 */
export function paintWeights(canvas, weights, T, S, size, full, ramp, palette) {
  const share = size / Math.max(T, S, 1);
  const room = { wide: Math.max(Math.round(share * S), 1), side: Math.max(Math.round(share * T), 1), full };
  paintPooled(canvas, weights, T, S, room, ramp, palette);
}

/** Returns the colour of text as the four bytes of a pixel. @param {Pick<Palette, 'ink'>} palette */
export const inkPixel = ({ ink }) => {
  const [r, g, b] = [1, 3, 5].map((at) => Number.parseInt(ink.slice(at, at + 2), 16));
  return new Uint32Array(new Uint8Array([r, g, b, 255]).buffer)[0];
};

/**
 * Paints the cells of the large picture with a gap between them. NaN is a cross in a frame.
 * @param {CanvasRenderingContext2D} context
 * @param {Float32Array} weights (T,S)
 * @param {number} T
 * @param {number} S
 * @param {{ cell: number, gap: number, full?: boolean }} grid full: true if keys after their query are drawn too
 * @param {Colours} ramp
 * @param {Palette} palette
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

/**
 * @param {CanvasRenderingContext2D} context
 * @param {number} x @param {number} y @param {number} side @param {string} ink
 */
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
