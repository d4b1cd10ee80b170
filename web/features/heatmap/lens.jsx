// Lenses: some cells of a picture of thousands, some heads of a thousand, as large as one can read them.

import { useEffect, useRef } from 'preact/hooks';
import { px, useSession } from '../../ui/context.js';
import { PALETTE } from '../../ui/palette.js';
import { weightsOf } from '../reading/derivation.js';
import { RAMP } from './colourRamp.js';
import { paintCells, paintWeights, sized } from './paint.js';

export { default as styles } from './lens.css';

/** Cells of a lens, on each side. */
const CELLS = 40;
/** Heads of a lens, on each side, and the side of one. */
const [HEADS, HEAD, GAP] = [5, 48, 4];

/** In the empty corner, under the title: the cells round the one that is asked for. */
export function Lens({ picture }) {
  const session = useSession();
  const theme = session.theme.value;
  const canvas = useRef(/** @type {any} */ (null));
  const { weights, T, S, x, y, side, wide, full } = picture;
  const cell = session.cell.value;
  // Where the name stands, two lines of what the head does included.
  const top = Math.max(y - 60, 0) + 104;
  const room = (side - top + y) / 2 - 8;
  const size = Math.min(Math.floor(room / CELLS), 7);
  const n = Math.min(CELLS, T, S);
  useEffect(() => {
    if (!cell || size < 2) return;
    const [t, s] = [Math.min(Math.max(cell.t - n / 2, 0), T - n), Math.min(Math.max(cell.s - n / 2, 0), S - n)].map(
      Math.floor,
    );
    const part = new Float32Array(n * n);
    for (let i = 0; i < n; i++)
      for (let j = 0; j < n; j++) part[i * n + j] = s + j > t + i && !full ? -1 : weights[(t + i) * S + s + j];
    const context = sized(canvas.current, n * size, n * size);
    paintCells(context, part, n, n, { cell: size, gap: 0, full: true }, RAMP[theme], PALETTE[theme]);
    // What comes later is bare canvas.
    context.fillStyle = PALETTE[theme].bg;
    part.forEach((w, i) => w < 0 && context.fillRect((i % n) * size, Math.floor(i / n) * size, size, size));
    context.strokeStyle = PALETTE[theme].ink;
    context.lineWidth = 1.5;
    // The frame of a cell at the edge stands within.
    const [left, up] = [cell.s - s, cell.t - t].map((i) => Math.min(Math.max(i * size - 0.5, 1), (n - 1) * size - 2));
    context.strokeRect(left, up, size + 1, size + 1);
  }, [weights, cell?.t, cell?.s, theme, size]);
  if (!cell || size < 2 || full) return null;
  return <canvas class="lens" ref={canvas} aria-hidden="true" style={px({ left: x + wide - n * size, top })} />;
}

/** Heads round the one under the pointer. `at` is it, and where. */
export function HeadsLens({ at, width }) {
  const session = useSession();
  const theme = session.theme.value;
  const canvas = useRef(/** @type {any} */ (null));
  const run = session.run.value;
  const { layers, heads } = session.about.value;
  const [rows, columns] = [Math.min(HEADS, layers), Math.min(HEADS, heads)];
  const first = (middle, count, shown) => Math.min(Math.max(middle - Math.floor(shown / 2), 0), count - shown);
  const [layer, head] = [first(at.layer, layers, rows), first(at.place ?? at.head, heads, columns)];
  const [wide, high] = [columns, rows].map((n) => n * (HEAD + GAP) + GAP);
  useEffect(() => {
    if (!run?.T || !run.S) return;
    const context = sized(canvas.current, wide, high);
    const small = document.createElement('canvas');
    for (let i = 0; i < rows; i++)
      for (let j = 0; j < columns; j++) {
        const l = layer + i;
        const h = at.order?.[l][head + j] ?? head + j;
        const own = weightsOf(run, l, h);
        const pooled = session.pooled.value[`${l}.${h}`];
        const { data, rows: T, columns: S } = own ? { data: own, rows: run.T, columns: run.S } : (pooled ?? {});
        if (!data) continue;
        paintWeights(small, data, T, S, HEAD, !run.about.causal, RAMP[theme], PALETTE[theme]);
        const [x, y] = [GAP + j * (HEAD + GAP), GAP + (rows - 1 - i) * (HEAD + GAP)];
        const ratio = small.width / Number.parseFloat(small.style.width);
        context.drawImage(small, x, y, small.width / ratio, small.height / ratio);
        if (l !== at.layer || h !== at.head) continue;
        context.strokeStyle = PALETTE[theme].chosen;
        context.lineWidth = 2;
        context.strokeRect(x - 2, y - 2, HEAD + 4, HEAD + 4);
      }
  }, [run?.weights, layer, head, at.layer, at.head, at.order, theme]);
  const left = at.x > width / 2 ? at.x - wide - 18 : at.x + 18;
  return (
    <canvas
      class="lens heads-lens"
      ref={canvas}
      aria-hidden="true"
      style={px({ left: Math.max(left, 0), top: Math.max(at.y - high / 2, 0) })}
    />
  );
}
