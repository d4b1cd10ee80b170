// The patches of an image on a canvas. It shows either the image, in which the query is chosen, or the weights of the
// keys of that query.

import { useEffect, useRef } from 'preact/hooks';
import { RAMP } from '../../drawing/colourRamp.ts';
import { sized } from '../../drawing/paintWeights.ts';
import type { Run } from '../../drawing/types.ts';
import { weightsOf } from '../../model/derivation.ts';
import { weightText } from '../../model/numbers.ts';
import type { PictureData } from '../../model/protocol/protocol.ts';
import { useSession } from '../../store/context.ts';
import type { Theme } from '../../ui/palette.ts';
import { px } from '../../ui/px.ts';
import type { patches } from './patches.en.ts';

/** The rows and columns of patches. before: number of tokens before the first patch. */
export type PatchGrid = { rows: number; columns: number; before: number };

/** Minimum size of a patch with a gap to the next weight, and of a patch whose frame has an outline. */
const [MIN_SEPARATE, MIN_OUTLINED] = [5, 13];
/** Distance in pixels from the edge of the canvas to the frame of a patch at the edge. */
const EDGE = 1.5;
/** Inset in pixels of the second frame, which a patch has if it is both query and key. */
const INNER_FRAME = 4;

export function keyWithMaxWeight(run: Run, t: number) {
  const row = (weightsOf(run, run.layer, run.head) as Float32Array as Float32Array).subarray(
    t * run.S,
    (t + 1) * run.S,
  );
  return row.reduce((best, w, s) => (w > row[best] ? s : best), 0);
}

export function Pane({
  run,
  grid,
  size,
  own,
  isImage = false,
  isSmall = false,
}: {
  run: Run;
  grid: PatchGrid;
  size: number;
  /** texts */
  own: typeof patches;
  /** true to show the image instead of the weights */
  isImage?: boolean;
  isSmall?: boolean;
}) {
  const session = useSession();
  const words = session.words.value;
  const { rows, columns } = grid;
  const canvas = usePaneCanvas(run, grid, size, isImage);
  const input = usePaneInput(run, grid, size, isImage, canvas);
  const label = isImage ? words.open.picture(rows, columns) : own.weightsAbout;
  const role = isSmall
    ? { role: 'img' as const, 'aria-label': label }
    : {
        role: 'application' as const,
        'aria-label': `${label}. ${own.walk}`,
        id: isImage ? 'picture' : undefined,
        tabIndex: 0,
        onPointerDown: input.press,
        onKeyDown: input.onKey,
      };
  return (
    <div
      class="pane"
      {...role}
      style={px({ width: columns * size, height: rows * size })}
      onPointerMove={input.point}
      onPointerLeave={() => session.setHover(null)}
    >
      <canvas ref={canvas} aria-hidden="true" />
    </div>
  );
}

/** Returns handlers of pointer and keyboard. In the image they choose the query, in the weights the key. */
function usePaneInput(
  run: Run,
  { rows, columns, before }: PatchGrid,
  size: number,
  isImage: boolean,
  canvas: { current: HTMLCanvasElement | null },
) {
  const session = useSession();
  const words = session.words.value;
  const cell = session.cell.value;
  const tokenAt = (event: PointerEvent) => {
    const box = (canvas.current as HTMLCanvasElement).getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top].map((from) => Math.floor(from / size));
    return x >= 0 && y >= 0 && x < columns && y < rows ? before + y * columns + x : -1;
  };
  const cellOf = (token: number) =>
    isImage ? { t: token, s: keyWithMaxWeight(run, token) } : { t: cell?.t ?? 0, s: token };
  return {
    point(event: PointerEvent) {
      const token = tokenAt(event);
      session.setHover(token < 0 ? null : cellOf(token));
    },
    press(event: PointerEvent) {
      const token = tokenAt(event);
      if (token >= 0) session.look({ cell: cellOf(token) });
    },
    onKey(event: KeyboardEvent) {
      const steps: Record<string, number> = { ArrowUp: -columns, ArrowDown: columns, ArrowLeft: -1, ArrowRight: 1 };
      const step = steps[event.key];
      if (!step || !cell) return;
      event.preventDefault();
      event.stopPropagation();
      const next = cellOf(Math.min(Math.max((isImage ? cell.t : cell.s) + step, before), run.S - 1));
      const weight = (weightsOf(run, run.layer, run.head) as Float32Array)[next.t * run.S + next.s];
      session.setHover(null);
      session.look({ cell: next });
      session.announce(words.cell(run.pieces[next.t].name, run.keys[next.s].name, weightText(weight)));
    },
  };
}

/** Returns the ref of a canvas with the image or the weights, and with frames around query and key. */
function usePaneCanvas(run: Run, grid: PatchGrid, size: number, isImage: boolean) {
  const session = useSession();
  const cell = session.cell.value;
  const theme: Theme = session.theme.value;
  const canvas = useRef(null as HTMLCanvasElement | null);
  useEffect(() => {
    if (!canvas.current) return;
    const context = sized(canvas.current, grid.columns * size, grid.rows * size);
    if (isImage && run.image) drawImage(context, run.image, grid.columns * size, grid.rows * size);
    else if (cell) drawWeights(context, run, cell.t, grid, size, theme);
    if (!cell) return;
    const colours = getComputedStyle(canvas.current);
    frame(context, cell.s, { colour: '--key', inset: 0 }, grid, size, colours);
    frame(context, cell.t, { colour: '--query', inset: cell.t === cell.s ? INNER_FRAME : 0 }, grid, size, colours);
  }, [run.weights, run.image, cell?.t, cell?.s, run.layer, run.head, theme, size]);
  return canvas;
}

function drawImage(context: CanvasRenderingContext2D, image: PictureData, width: number, height: number) {
  const exact = Object.assign(document.createElement('canvas'), { width: image.width, height: image.height });
  exact.getContext('2d')?.putImageData(new ImageData(image.data, image.width, image.height), 0, 0);
  context.imageSmoothingQuality = 'high';
  context.drawImage(exact, 0, 0, width, height);
}

/** `t`: the query. */
function drawWeights(
  context: CanvasRenderingContext2D,
  run: Run,
  t: number,
  { rows, columns, before }: PatchGrid,
  size: number,
  theme: Theme,
) {
  const row = (weightsOf(run, run.layer, run.head) as Float32Array).subarray(t * run.S, (t + 1) * run.S);
  const side = size - (size >= MIN_SEPARATE ? 1 : 0);
  for (let i = 0; i < rows * columns; i++) {
    context.fillStyle = RAMP[theme].css(row[before + i]);
    context.fillRect((i % columns) * size, Math.floor(i / columns) * size, side, side);
  }
}

/** Frames the patch of a token, if it is one. `colour`: name of a custom property. */
function frame(
  context: CanvasRenderingContext2D,
  token: number,
  { colour, inset }: { colour: string; inset: number },
  { rows, columns, before }: PatchGrid,
  size: number,
  colours: CSSStyleDeclaration,
) {
  if (token < before) return;
  const [x, y] = [((token - before) % columns) * size, Math.floor((token - before) / columns) * size];
  const strokes =
    size >= MIN_OUTLINED
      ? [
          { name: '--bg', width: 5 },
          { name: colour, width: 3 },
        ]
      : [{ name: colour, width: 2 }];
  for (const { name, width } of strokes) {
    context.strokeStyle = colours.getPropertyValue(name);
    context.lineWidth = width;
    const [left, top] = [x, y].map((from) => Math.max(from + inset, EDGE));
    const right = Math.min(x + size - inset, columns * size - EDGE);
    const bottom = Math.min(y + size - inset, rows * size - EDGE);
    context.strokeRect(left, top, right - left, bottom - top);
  }
}
