// Draws many cells as pixels, for the image in an SVG drawing.

import type { Panel } from './figure.ts';

/** Maximum number of pixels on each side of an image. */
export const MAX_SIDE = 1280;
/** The colour of NaN in an image: grey, which is visible on a light and on a dark background. */
export const NAN_PIXEL = 0xff808080;

/** Returns an image. With too many cells, a pixel shows the largest absolute value of several; 0 without a cell. */
export function pixelsOf(
  { names, keys, value, rows, columns }: Panel,
  colours: { pixel: (value: number) => number },
): { across: number; down: number; pixels: Uint32Array<ArrayBuffer> } {
  const [T, S, n, m] = [names.length, keys.length, rows?.n ?? names.length, columns?.n ?? keys.length];
  const [down, across] = [n, m].map((count) => Math.min(count, MAX_SIDE));
  const pixels = new Uint32Array(across * down);
  const most = new Float32Array(across * down);
  for (let t = 0; t < T; t++) {
    const y = Math.floor(((rows?.at(t) ?? t) * down) / n);
    for (let s = 0; s < S; s++) {
      const weight = value(t, s);
      if (weight === undefined) continue;
      const at = y * across + Math.floor(((columns?.at(s) ?? s) * across) / m);
      if (pixels[at] !== 0 && Math.abs(weight) <= Math.abs(most[at])) continue;
      most[at] = weight;
      pixels[at] = Number.isNaN(weight) ? NAN_PIXEL : colours.pixel(weight);
    }
  }
  return { across, down, pixels };
}
