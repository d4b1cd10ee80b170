// Enlarges content that is too small to read: cells of a dense picture, or heads of a model with a thousand heads.

import { useEffect, useRef } from 'preact/hooks';
import { useSession } from '../../ui/context.js';
import { PALETTE } from '../../ui/palette.js';
import { px } from '../../ui/px.js';
import { useSize } from '../../ui/useSize.js';
import { weightsOf } from '../reading/derivation.js';
import { RAMP } from './colourRamp.js';
import { paintCells, paintWeights, sized } from './paintWeights.js';

/** @import { About } from '../../store/protocol.js' */
/** @import { Theme } from '../../ui/palette.js' */
/** @import { Cell, Picture, Run } from './types.js' */

export { default as styles } from './lens.css';

/** Number of cells in a row and in a column of a lens, and the maximum and minimum side of a cell in pixels. */
const [CELLS, MAX_CELL, MIN_CELL] = [40, 7, 2];
/**
 * Number of heads in a row and in a column of a lens, the side of a thumbnail, and the gap between two thumbnails, in
 * pixels.
 */
const [HEADS, THUMBNAIL, GAP] = [5, 48, 4];
/** Distance from the pointer to the lens, in pixels. */
const POINTER_GAP = 18;

const clamp = (/** @type {number} */ x, /** @type {number} */ from, /** @type {number} */ to) =>
  Math.min(Math.max(x, from), to);

/**
 * Shows the cells around the cell that is read. The lens is in the empty half of the picture, under the title.
 * @param {{ picture: Picture }} props
 */
export function Lens({ picture }) {
  const session = useSession();
  /** @type {Theme} */
  const theme = session.theme.value;
  const slot = useRef(/** @type {HTMLDivElement | null} */ (null));
  const canvas = useRef(/** @type {HTMLCanvasElement | null} */ (null));
  const { weights, T, S, x, y, matrixWidth, matrixHeight, full } = picture;
  const read = session.cell.value;
  const side = Math.min(Math.floor(useSize(slot).height / CELLS), MAX_CELL);
  const isVisible = read !== null && side >= MIN_CELL && !full;
  useEffect(() => {
    if (isVisible && canvas.current) paintAround(canvas.current, read, picture, side, theme);
  }, [weights, read?.t, read?.s, theme, side]);
  if (full) return null;
  const n = Math.min(CELLS, T, S);
  const geometry = { '--x': x, '--y': y, '--matrix-width': matrixWidth, '--matrix-height': matrixHeight };
  return (
    <div class="lens-slot" ref={slot} aria-hidden="true" style={px(geometry)}>
      {isVisible && <canvas class="lens" ref={canvas} style={px({ width: n * side, height: n * side })} />}
    </div>
  );
}

/**
 * @param {HTMLCanvasElement} canvas @param {Cell} read @param {Picture} picture
 * @param {number} side of an enlarged cell @param {Theme} theme
 */
function paintAround(canvas, read, { weights, T, S }, side, theme) {
  const n = Math.min(CELLS, T, S);
  const [t, s] = [clamp(read.t - n / 2, 0, T - n), clamp(read.s - n / 2, 0, S - n)].map(Math.floor);
  const part = new Float32Array(n * n);
  for (let i = 0; i < n; i++)
    for (let j = 0; j < n; j++) part[i * n + j] = s + j > t + i ? -1 : weights[(t + i) * S + s + j];
  const context = sized(canvas, n * side, n * side);
  paintCells(context, part, n, n, { cell: side, gap: 0, full: true }, RAMP[theme], PALETTE[theme]);
  // In a causal picture, cells of keys after their query are empty.
  context.fillStyle = PALETTE[theme].bg;
  part.forEach((w, i) => w < 0 && context.fillRect((i % n) * side, Math.floor(i / n) * side, side, side));
  context.strokeStyle = PALETTE[theme].ink;
  context.lineWidth = 1.5;
  // The frame of a cell at the edge is moved inside the canvas.
  const [left, top] = [read.s - s, read.t - t].map((i) => clamp(i * side - 0.5, 1, (n - 1) * side - 2));
  context.strokeRect(left, top, side + 1, side + 1);
}

/**
 * The head under the pointer, and the position of its tile.
 * @typedef {object} PointedHead
 * @property {number} layer
 * @property {number} head
 * @property {number} [place] position of the head in its row
 * @property {number[][] | null} [order] the heads of each layer in their order
 * @property {number} x x of the middle of the tile
 * @property {number} y
 */

/**
 * Shows the heads around the head under the pointer.
 * @param {{ about: About, pointed: PointedHead, width: number }} props
 */
export function HeadsLens({ about, pointed, width }) {
  const session = useSession();
  /** @type {Theme} */
  const theme = session.theme.value;
  const canvas = useRef(/** @type {HTMLCanvasElement | null} */ (null));
  /** @type {Run | null} */
  const run = session.run.value;
  const { layers, heads } = about;
  const [rows, columns] = [Math.min(HEADS, layers), Math.min(HEADS, heads)];
  const first = (/** @type {number} */ middle, /** @type {number} */ count, /** @type {number} */ shown) =>
    clamp(middle - Math.floor(shown / 2), 0, count - shown);
  const layer = first(pointed.layer, layers, rows);
  const place = first(pointed.place ?? pointed.head, heads, columns);
  const [lensWidth, lensHeight] = [columns, rows].map((n) => n * (THUMBNAIL + GAP) + GAP);
  useEffect(() => {
    if (!run?.T || !run.S || !canvas.current) return;
    const context = sized(canvas.current, lensWidth, lensHeight);
    const thumbnail = document.createElement('canvas');
    for (let i = 0; i < rows; i++)
      for (let j = 0; j < columns; j++) {
        const l = layer + i;
        const h = pointed.order?.[l][place + j] ?? place + j;
        const [left, top] = [GAP + j * (THUMBNAIL + GAP), GAP + (rows - 1 - i) * (THUMBNAIL + GAP)];
        if (!drawHead(context, thumbnail, run, session.pooled.value, { l, h, left, top }, theme)) continue;
        if (l !== pointed.layer || h !== pointed.head) continue;
        context.strokeStyle = PALETTE[theme].chosen;
        context.lineWidth = 2;
        context.strokeRect(left - 2, top - 2, THUMBNAIL + 4, THUMBNAIL + 4);
      }
  }, [run?.weights, layer, place, pointed.layer, pointed.head, pointed.order, theme]);
  const left = pointed.x > width / 2 ? pointed.x - lensWidth - POINTER_GAP : pointed.x + POINTER_GAP;
  return (
    <canvas
      class="lens heads-lens"
      ref={canvas}
      aria-hidden="true"
      style={px({ left: Math.max(left, 0), top: Math.max(pointed.y - lensHeight / 2, 0) })}
    />
  );
}

/**
 * Draws the weights of a head, or its pooled weights.
 * @param {CanvasRenderingContext2D} context
 * @param {HTMLCanvasElement} thumbnail canvas to paint on
 * @param {Run} run
 * @param {Record<string, { data: Float32Array, rows: number, columns: number }>} pooled pooled weights by 'layer.head'
 * @param {{ l: number, h: number, left: number, top: number }} head
 * @param {Theme} theme
 * @returns {boolean} false if the page has received neither
 */
function drawHead(context, thumbnail, run, pooled, { l, h, left, top }, theme) {
  const own = weightsOf(run, l, h);
  const { data, rows, columns } = own ? { data: own, rows: run.T, columns: run.S } : (pooled[`${l}.${h}`] ?? {});
  if (!data) return false;
  paintWeights(thumbnail, data, rows, columns, THUMBNAIL, !run.about.causal, RAMP[theme], PALETTE[theme]);
  const ratio = thumbnail.width / Number.parseFloat(thumbnail.style.width);
  context.drawImage(thumbnail, left, top, thumbnail.width / ratio, thumbnail.height / ratio);
  return true;
}
