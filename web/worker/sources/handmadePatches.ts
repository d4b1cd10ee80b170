// Handmade heads for teaching that read the patches of a picture.

import { pieceOf } from '../run/modelInput.ts';
import { aboutHeads } from './attentionOnly.ts';
import { TERMS } from './handmadeTerms.ts';
import { drawnPixels } from './pictures.ts';

import type { HeadsSource, PatchOptions, PictureData, Pixels } from './types.ts';

/** The number of rows and columns of patches, and the side of a patch in pixels. */
const [ROWS, COLUMNS, SIDE] = [10, 14, 8];
const PATCH: PatchOptions = { image: [ROWS * SIDE, COLUMNS * SIDE], size: SIDE, channels: 3 };
/** The roles of the heads, in the order of the heads. */
const PATCH_HEADS = ['colour', 'near', 'row', 'column', 'mirror', 'bright'];

/** Computes the mean colour of each patch, 0…255. */
function coloursOf({ data, width }: PictureData) {
  const means = Array.from({ length: ROWS * COLUMNS }, () => [0, 0, 0]);
  for (let i = 0; 4 * i < data.length; i++) {
    const [y, x] = [Math.floor(i / width), i % width];
    const mean = means[Math.floor(y / SIDE) * COLUMNS + Math.floor(x / SIDE)];
    for (let c = 0; c < 3; c++) mean[c] += data[4 * i + c] / SIDE ** 2;
  }
  return means;
}

/** Computes queries and keys for chosen scores of patches: key s is one-hot, so a query's component s is its score. */
export function patchHeads(means: number[][]) {
  const n = means.length;
  const row = (t: number) => Math.floor(t / COLUMNS);
  const column = (t: number) => t % COLUMNS;
  const brightness = means.map(([r, g, b]) => (0.3 * r + 0.59 * g + 0.11 * b) / 255);
  const scores: ((t: number, s: number) => number)[] = [
    (t, s) => -means[t].reduce((sum, c, i) => sum + (c - means[s][i]) ** 2, 0) / 1500,
    (t, s) => -((row(t) - row(s)) ** 2 + (column(t) - column(s)) ** 2) / 3,
    (t, s) => (row(t) === row(s) ? 5 : 0),
    (t, s) => (column(t) === column(s) ? 5 : 0),
    (t, s) => (row(t) === row(s) && column(t) + column(s) === COLUMNS - 1 ? 7 : 0),
    (_t, s) => 14 * brightness[s],
  ];
  const [q, k] = [new Float32Array(scores.length * n * n), new Float32Array(scores.length * n * n)];
  scores.forEach((score, h) => {
    for (let t = 0; t < n; t++) {
      k[(h * n + t) * n + t] = 1;
      for (let s = 0; s < n; s++) q[(h * n + t) * n + s] = score(t, s) * Math.sqrt(n);
    }
  });
  const shape = [scores.length, n, n];
  return { q: { data: q, shape }, k: { data: k, shape }, v: { data: k, shape } };
}

const NAMES = Array.from({ length: ROWS * COLUMNS }, (_, i) => `${Math.floor(i / COLUMNS)}·${i % COLUMNS}`);

export function patches(pixels: Pixels = drawnPixels(PATCH)): HeadsSource {
  const context = ROWS * COLUMNS;
  const source: HeadsSource & { pixels: Pixels } = {
    about: aboutHeads('patches', { heads: PATCH_HEADS.length, context, reads: 'picture', terms: TERMS }),
    patch: PATCH,
    pixels,
    version: 0,
    headInputs() {
      const { image, fine } = source.pixels;
      return {
        pieces: NAMES.map(pieceOf),
        layers: [patchHeads(coloursOf(image))],
        roles: [PATCH_HEADS],
        picture: { image: fine ?? image, patch: PATCH },
      };
    },
  };
  return source;
}
