// A mask that is painted by hand, on a canvas over the large picture while the brush is active. The toolbar is in
// brushLine.tsx.

import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { sized } from '../../drawing/paintWeights.ts';
import type { Cell, Picture } from '../../drawing/types.ts';
import { countOf, eachRun, isPainted } from '../../model/hiddenCells.ts';
import { effective, placeIn, placeOfLayer } from '../../model/modelEdits.ts';
import type { State } from '../../model/state.ts';
import { useSession } from '../../store/context.ts';
import type { Session } from '../../store/session.ts';
import { PALETTE, type Theme } from '../../ui/palette.ts';
import { px } from '../../ui/px.ts';
import { brush as inEnglish } from './brush.en.ts';
import { brush as inChinese } from './brush.zh.ts';
import { cellsUnder, line, paintAt } from './stroke.ts';

/** From press to release. cells: by index in the matrix; gesture: its changes are one step of undo under this name */
export type Stroke = { cells: Map<number, Cell>; last: Cell | null; gesture: string };

export const brushTexts = (session: Session) => (session.language.value === 'zh' ? inChinese : inEnglish);

/** Width of the brush in pixels. It covers several cells if they are smaller. */
const BRUSH_WIDTH = 11;
/** Cells smaller than this are painted without a gap and without a slash. */
const MIN_SLASHED_CELL = 5;
let strokes = 0;

export const hiddenHere = (session: Session, { painted, head }: State) =>
  effective(painted, placeOfLayer(session), head, '');

/** Masks or unmasks cells in the scope that the what-if line sets. All changes of one gesture are one step of undo. */
function paint(session: Session, cells: Cell[], hide: boolean, gesture?: string) {
  const { painted, scope, head } = session.state.peek();
  const next = paintAt(painted, placeIn(scope, placeOfLayer(session), head), cells, hide);
  if (Object.values(next).every(isPainted)) session.update({ painted: next }, gesture);
}

/** Masks or unmasks the cell that is read, for a brush that the keyboard moves. */
export function toggle(session: Session, { t, s }: Cell) {
  let hide = true;
  const hidden = hiddenHere(session, session.state.peek());
  if (hidden) eachRun(hidden, (row, from, to) => row === t && from <= s && s <= to && (hide = false));
  paint(session, [{ t, s }], hide);
  const run = session.run.peek();
  if (run) session.announce(brushTexts(session)[hide ? 'hidden' : 'shown'](run.pieces[t].name, run.keys[s].name));
}

/** A canvas over the picture that receives the events of the pointer. */
export function Brush({ picture }: { picture: Picture }) {
  const session = useSession();
  const { units } = session.state.value;
  // A mask applies to tokens, so the picture must not be in words.
  useEffect(() => {
    if (units === 'words') session.update({ units: 'tokens' });
  }, [units]);
  const canvas = useRef(null as HTMLCanvasElement | null);
  const stroke = useRef(null as Stroke | null);
  const { x, y, cell, matrixWidth, matrixHeight } = picture;
  const theme: Theme = session.theme.value;
  /** Draws the stroke while its result has not been computed, and the outline of the brush. */
  const draw = (at: Cell | null) => {
    if (!canvas.current) return;
    const context = sized(canvas.current, matrixWidth, matrixHeight);
    const isHiding = session.brush.value === 'hide';
    if (stroke.current && isHiding) drawHidden(context, stroke.current.cells.values(), cell, PALETTE[theme]);
    if (at) drawOutline(context, cellsUnder(at, brushSize(cell), picture), cell, PALETTE[theme].ink);
  };
  const input = usePainting(picture, { canvas, stroke, draw });
  useEffect(() => draw(null), [session.state.value.painted, cell, matrixHeight, theme]);
  // The picture handles the keys of the keyboard that paint, so it takes the focus.
  useLayoutEffect(() => {
    const root = canvas.current?.getRootNode() as ShadowRoot;
    (root.querySelector('#picture') as HTMLElement | null)?.focus({ preventScroll: true });
  }, []);
  return (
    <canvas
      ref={canvas}
      class="brush"
      aria-hidden="true"
      style={px({ left: x, top: y, width: matrixWidth, height: matrixHeight })}
      onPointerDown={input.press}
      onPointerMove={input.move}
      onPointerUp={input.end}
      onPointerCancel={input.end}
      onPointerLeave={() => {
        session.setHover(null);
        if (!stroke.current) draw(null);
      }}
    />
  );
}

/** Returns the number of cells that the brush covers in each direction. */
const brushSize = (cell: number) => Math.max(Math.round(BRUSH_WIDTH / cell), 1);

/** Returns handlers that paint the cells over which the pointer passes, including those between two events. */
function usePainting(
  picture: Picture,
  {
    canvas,
    stroke,
    draw,
  }: {
    canvas: { current: HTMLCanvasElement | null };
    stroke: { current: Stroke | null };
    draw: (at: Cell | null) => void;
  },
) {
  const session = useSession();
  const { cell, T, S, full } = picture;
  const cellAt = ({ clientX, clientY }: PointerEvent): Cell => {
    const box = (canvas.current as HTMLCanvasElement).getBoundingClientRect();
    const inside = (from: number, count: number) => Math.min(Math.max(Math.floor(from / cell), 0), count - 1);
    return { t: inside(clientY - box.top, T), s: inside(clientX - box.left, S) };
  };
  const add = (current: Stroke, to: Cell) => {
    const { cells, last, gesture } = current;
    const fresh = line(last ?? to, to)
      .flatMap((at) => cellsUnder(at, brushSize(cell), picture))
      .filter(({ t, s }) => !cells.has(t * S + s));
    for (const one of fresh) cells.set(one.t * S + one.s, one);
    current.last = to;
    if (fresh.length > 0) paint(session, fresh, session.brush.value === 'hide', gesture);
  };
  return {
    press(event: PointerEvent) {
      if (event.button !== 0) return;
      event.preventDefault();
      canvas.current?.setPointerCapture(event.pointerId);
      stroke.current = { cells: new Map(), last: null, gesture: `brush ${++strokes}` };
      add(stroke.current, cellAt(event));
      draw(cellAt(event));
    },
    move(event: PointerEvent) {
      const at = cellAt(event);
      session.setHover(full || at.s <= at.t ? at : null);
      if (stroke.current) {
        const between = event.getCoalescedEvents?.() ?? [];
        for (const one of between.length > 0 ? between : [event]) add(stroke.current, cellAt(one));
      }
      draw(at);
    },
    end() {
      if (!stroke.current) return;
      stroke.current = null;
      session.endGesture();
      draw(null);
      session.announce(brushTexts(session).count(countOf(hiddenHere(session, session.state.peek()))));
    },
  };
}

function drawHidden(
  context: CanvasRenderingContext2D,
  cells: Iterable<Cell>,
  cell: number,
  palette: { bg: string; ink2: string },
) {
  const hasSlash = cell >= MIN_SLASHED_CELL;
  const box = cell - (hasSlash ? 1 : 0);
  context.fillStyle = palette.bg;
  context.strokeStyle = palette.ink2;
  for (const { t, s } of cells) {
    context.fillRect(s * cell, t * cell, box, box);
    if (!hasSlash) continue;
    context.beginPath();
    context.moveTo((s + 0.35) * cell, (t + 0.65) * cell);
    context.lineTo((s + 0.65) * cell, (t + 0.35) * cell);
    context.stroke();
  }
}

function drawOutline(context: CanvasRenderingContext2D, cells: Cell[], cell: number, colour: string) {
  if (cells.length === 0) return;
  const [first, last] = [cells[0], cells[cells.length - 1]];
  const [left, top] = [first.s * cell + 1, first.t * cell + 1];
  context.strokeStyle = colour;
  context.lineWidth = 2;
  context.strokeRect(left, top, (last.s + 1) * cell - left - 1, (last.t + 1) * cell - top - 1);
}
