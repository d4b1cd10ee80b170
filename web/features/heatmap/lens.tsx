// Enlarges content that is too small to read: cells of a dense picture, or heads of a model with a thousand heads.

import { useEffect, useRef } from 'preact/hooks';
import { RAMP } from '../../drawing/colourRamp.ts';
import { paintCells, paintWeights, sized } from '../../drawing/paintWeights.ts';
import type { Cell, Picture, Run } from '../../drawing/types.ts';
import { weightsOf } from '../../model/derivation.ts';
import type { About } from '../../model/protocol/protocol.ts';
import { useSession } from '../../store/context.ts';
import { PALETTE, type Theme } from '../../ui/palette.ts';
import { px } from '../../ui/px.ts';
import { useSize } from '../../ui/useSize.ts';

export { default as styles } from './lens.css';

/** Number of cells in a row and in a column of a lens, and the maximum and minimum side of a cell in pixels. */
const [CELLS, MAX_CELL, MIN_CELL] = [40, 7, 2];
/** Number of heads in a row and column of a lens, side of a thumbnail, and gap between two, in pixels. */
const [HEADS, THUMBNAIL, GAP] = [5, 48, 4];
/** Distance from the pointer to the lens, in pixels. */
const POINTER_GAP = 18;

const clamp = (x: number, from: number, to: number) => Math.min(Math.max(x, from), to);

/** Shows the cells around the cell that is read. The lens is in the empty half of the picture, under the title. */
export function Lens({ picture }: { picture: Picture }) {
  const session = useSession();
  const theme: Theme = session.theme.value;
  const slot = useRef(null as HTMLDivElement | null);
  const canvas = useRef(null as HTMLCanvasElement | null);
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

/** `side`: of an enlarged cell. */
function paintAround(canvas: HTMLCanvasElement, read: Cell, { weights, T, S }: Picture, side: number, theme: Theme) {
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

/** The head under the pointer, and the position of its tile. */
export type PointedHead = {
  layer: number;
  head: number;
  /** position of the head in its row */
  place?: number;
  /** the heads of each layer in their order */
  order?: number[][] | null;
  /** x of the middle of the tile */
  x: number;
  y: number;
};

export function HeadsLens({ about, pointed, width }: { about: About; pointed: PointedHead; width: number }) {
  const session = useSession();
  const theme: Theme = session.theme.value;
  const canvas = useRef(null as HTMLCanvasElement | null);
  const run: Run | null = session.run.value;
  const { layers, heads } = about;
  const [rows, columns] = [Math.min(HEADS, layers), Math.min(HEADS, heads)];
  const first = (middle: number, count: number, shown: number) =>
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

/** Draws the weights of a head, or its `pooled` weights by 'layer.head'; returns false if neither was received. */
function drawHead(
  context: CanvasRenderingContext2D,
  thumbnail: HTMLCanvasElement,
  run: Run,
  pooled: Record<string, { data: Float32Array; rows: number; columns: number }>,
  { l, h, left, top }: { l: number; h: number; left: number; top: number },
  theme: Theme,
): boolean {
  const own = weightsOf(run, l, h);
  const { data, rows, columns } = own ? { data: own, rows: run.T, columns: run.S } : (pooled[`${l}.${h}`] ?? {});
  if (!data) return false;
  paintWeights(thumbnail, data, rows, columns, THUMBNAIL, !run.about.causal, RAMP[theme], PALETTE[theme]);
  const ratio = thumbnail.width / Number.parseFloat(thumbnail.style.width);
  context.drawImage(thumbnail, left, top, thumbnail.width / ratio, thumbnail.height / ratio);
  return true;
}
