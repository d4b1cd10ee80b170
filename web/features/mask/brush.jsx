// A mask that is painted by hand, on a canvas over the large picture while the brush is active. The toolbar is in
// brushLine.jsx.

import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { useSession } from '../../ui/context.js';
import { PALETTE } from '../../ui/palette.js';
import { px } from '../../ui/px.js';
import { sized } from '../heatmap/paintWeights.js';
import { effective, placeIn, placeOfLayer } from '../whatif/modelEdits.js';
import { brush as inEnglish } from './brush.en.js';
import { brush as inChinese } from './brush.zh.js';
import { countOf, eachRun, isPainted } from './hiddenCells.js';
import { cellsUnder, line, paintAt } from './stroke.js';

/** @import { Session } from '../../store/session.js' */
/** @import { State } from '../../store/state.js' */
/** @import { Theme } from '../../ui/palette.js' */
/** @import { Cell, Picture } from '../heatmap/types.js' */

/**
 * A stroke from press to release. cells: the cells by their index in the matrix. last: the last cell. gesture: the name
 * under which all changes of the stroke are one step of undo.
 * @typedef {{ cells: Map<number, Cell>, last: Cell | null, gesture: string }} Stroke
 */

export const brushTexts = (/** @type {Session} */ session) => (session.language.value === 'zh' ? inChinese : inEnglish);

/** Width of the brush in pixels. It covers several cells if they are smaller. */
const BRUSH_WIDTH = 11;
/** Cells smaller than this are painted without a gap and without a slash. */
const MIN_SLASHED_CELL = 5;
let strokes = 0;

/** Returns the cells that are masked by hand in the shown head. @param {Session} session @param {State} state */
export const hiddenHere = (session, { painted, head }) => effective(painted, placeOfLayer(session), head, '');

/**
 * Masks or unmasks cells in the scope that the what-if line sets. All changes of one gesture are one step of undo.
 * @param {Session} session @param {Cell[]} cells @param {boolean} hide @param {string} [gesture]
 */
function paint(session, cells, hide, gesture) {
  const { painted, scope, head } = session.state.peek();
  const next = paintAt(painted, placeIn(scope, placeOfLayer(session), head), cells, hide);
  if (Object.values(next).every(isPainted)) session.update({ painted: next }, gesture);
}

/**
 * Masks or unmasks the cell that is read, for a brush that the keyboard moves.
 * @param {Session} session @param {Cell} cell
 */
export function toggle(session, { t, s }) {
  let hide = true;
  const hidden = hiddenHere(session, session.state.peek());
  if (hidden) eachRun(hidden, (row, from, to) => row === t && from <= s && s <= to && (hide = false));
  paint(session, [{ t, s }], hide);
  const run = session.run.peek();
  if (run) session.announce(brushTexts(session)[hide ? 'hidden' : 'shown'](run.pieces[t].name, run.keys[s].name));
}

/** A canvas over the picture that receives the events of the pointer. @param {{ picture: Picture }} props */
export function Brush({ picture }) {
  const session = useSession();
  const { units } = session.state.value;
  // A mask applies to tokens, so the picture must not be in words.
  useEffect(() => {
    if (units === 'words') session.update({ units: 'tokens' });
  }, [units]);
  const canvas = useRef(/** @type {HTMLCanvasElement | null} */ (null));
  const stroke = useRef(/** @type {Stroke | null} */ (null));
  const { x, y, cell, matrixWidth, matrixHeight } = picture;
  /** @type {Theme} */
  const theme = session.theme.value;
  /** Draws the stroke while its result has not been computed, and the outline of the brush. @param {Cell | null} at */
  const draw = (at) => {
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
    const root = /** @type {ShadowRoot} */ (canvas.current?.getRootNode());
    /** @type {HTMLElement | null} */ (root.querySelector('#picture'))?.focus({ preventScroll: true });
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

/** Returns the number of cells that the brush covers in each direction. @param {number} cell */
const brushSize = (cell) => Math.max(Math.round(BRUSH_WIDTH / cell), 1);

/**
 * Returns handlers that paint the cells over which the pointer passes, including those between two events.
 * @param {Picture} picture
 * @param {object} brush
 * @param {{ current: HTMLCanvasElement | null }} brush.canvas
 * @param {{ current: Stroke | null }} brush.stroke
 * @param {(at: Cell | null) => void} brush.draw
 */
function usePainting(picture, { canvas, stroke, draw }) {
  const session = useSession();
  const { cell, T, S, full } = picture;
  /** @param {PointerEvent} event @returns {Cell} */
  const cellAt = ({ clientX, clientY }) => {
    const box = /** @type {HTMLCanvasElement} */ (canvas.current).getBoundingClientRect();
    const inside = (/** @type {number} */ from, /** @type {number} */ count) =>
      Math.min(Math.max(Math.floor(from / cell), 0), count - 1);
    return { t: inside(clientY - box.top, T), s: inside(clientX - box.left, S) };
  };
  const add = (/** @type {Stroke} */ current, /** @type {Cell} */ to) => {
    const { cells, last, gesture } = current;
    const fresh = line(last ?? to, to)
      .flatMap((at) => cellsUnder(at, brushSize(cell), picture))
      .filter(({ t, s }) => !cells.has(t * S + s));
    for (const one of fresh) cells.set(one.t * S + one.s, one);
    current.last = to;
    if (fresh.length > 0) paint(session, fresh, session.brush.value === 'hide', gesture);
  };
  return {
    press(/** @type {PointerEvent} */ event) {
      if (event.button !== 0) return;
      event.preventDefault();
      canvas.current?.setPointerCapture(event.pointerId);
      stroke.current = { cells: new Map(), last: null, gesture: `brush ${++strokes}` };
      add(stroke.current, cellAt(event));
      draw(cellAt(event));
    },
    move(/** @type {PointerEvent} */ event) {
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

/**
 * @param {CanvasRenderingContext2D} context @param {Iterable<Cell>} cells @param {number} cell
 * @param {{ bg: string, ink2: string }} palette
 */
function drawHidden(context, cells, cell, palette) {
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

/** @param {CanvasRenderingContext2D} context @param {Cell[]} cells @param {number} cell @param {string} colour */
function drawOutline(context, cells, cell, colour) {
  if (cells.length === 0) return;
  const [first, last] = [cells[0], cells[cells.length - 1]];
  const [left, top] = [first.s * cell + 1, first.t * cell + 1];
  context.strokeStyle = colour;
  context.lineWidth = 2;
  context.strokeRect(left, top, (last.s + 1) * cell - left - 1, (last.t + 1) * cell - top - 1);
}
