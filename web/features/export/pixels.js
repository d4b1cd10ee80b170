// Many cells as pixels, which a drawing has as an image.

/** Cells that are one pixel each have at most this many pixels a side. */
export const MAX_SIDE = 1280;
/** NaN in such cells: grey, which is visible on either background. */
export const NAN_PIXEL = 0xff808080;

/**
 * Each pixel is one cell, or the one with the largest absolute value of several; 0 where there is no cell.
 * @param {import('./figure.js').Panel} panel
 * @param {{ pixel: (value: number) => number }} colours
 * @returns {{ across: number, down: number, pixels: Uint32Array<ArrayBuffer> }}
 */
export function pixelsOf({ names, keys, value, rows, columns }, colours) {
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
