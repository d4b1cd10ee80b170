// A mask painted by hand: what lies over the large picture while the brush is on, and its line in the place of what if.

import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { px, useSession } from '../../ui/context.js';
import { PALETTE } from '../../ui/palette.js';
import { sized } from '../heatmap/paint.js';
import { matrixOf } from '../views.js';
import { effective, placeIn, withPlace } from '../whatif/edits.js';
import { Scopes } from '../whatif/scopes.jsx';
import { brush as inEnglish } from './brush.en.js';
import { brush as inChinese } from './brush.zh.js';
import { eachRun, isLinked, isPainted } from './hiddenCells.js';
import { line, paintAt } from './stroke.js';

const wordsOf = (session) => (session.language.value === 'zh' ? inChinese : inEnglish);
/** Where cells are smaller, the brush covers several: it is so many pixels wide. */
const WIDE = 11;

const TOOLS = /** @type {const} */ (['hide', 'show']);
let strokes = 0;

/** What is painted for the head shown. */
const paintedHere = ({ painted, layer, head }) => effective(painted, layer, head, '');

/** Hides or shows cells where the what-if line says; a stroke is one step. */
function paint(session, cells, hide, gesture) {
  const { painted, scope, layer, head } = session.state.peek();
  const next = paintAt(painted, placeIn(scope, layer, head), cells, hide);
  if (Object.values(next).every(isPainted)) session.update({ painted: next }, gesture);
}

/** The cell that the keyboard is on. @param {any} session @param {{ t: number, s: number }} cell */
export function toggle(session, { t, s }) {
  let hide = true;
  const text = paintedHere(session.state.peek());
  if (text) eachRun(text, (row, from, to) => row === t && from <= s && s <= to && (hide = false));
  paint(session, [{ t, s }], hide);
  const run = session.run.peek();
  session.announce(wordsOf(session)[hide ? 'hidden' : 'shown'](run.pieces[t].name, run.keys[s].name));
}

/** Takes the pointer from the picture: what it passes over is painted, also between two of its events. */
export function Brush({ picture: { x, y, cell, side, wide, T, S, full } }) {
  const session = useSession();
  const canvas = useRef(/** @type {any} */ (null));
  /** The stroke that is being painted: its cells, the last one, its name. */
  const stroke = useRef(/** @type {any} */ (null));
  const hide = session.brush.value === 'hide';
  const palette = PALETTE[session.theme.value];
  const size = Math.max(Math.round(WIDE / cell), 1);
  const { painted } = session.state.value;

  const cellAt = ({ clientX, clientY }) => {
    const box = canvas.current.getBoundingClientRect();
    const inside = (at, count) => Math.min(Math.max(Math.floor(at / cell), 0), count - 1);
    return { t: inside(clientY - box.top, T), s: inside(clientX - box.left, S) };
  };
  /** The cells under a brush whose middle is one of them. */
  const under = ({ t, s }) => {
    const cells = [];
    const [top, left] = [t, s].map((at) => at - Math.floor((size - 1) / 2));
    for (let row = Math.max(top, 0); row < Math.min(top + size, T); row++)
      for (let key = Math.max(left, 0); key < Math.min(left + size, full ? S : row + 1); key++)
        cells.push({ t: row, s: key });
    return cells;
  };
  // What is painted is seen at once, before it is computed.
  const draw = (at) => {
    const context = sized(canvas.current, wide, side);
    const gap = cell >= 5 ? 1 : 0;
    context.fillStyle = palette.bg;
    context.strokeStyle = palette.ink2;
    if (stroke.current && hide)
      for (const { t, s } of stroke.current.cells.values()) {
        context.fillRect(s * cell, t * cell, cell - gap, cell - gap);
        if (cell < 5) continue;
        context.beginPath();
        context.moveTo((s + 0.35) * cell, (t + 0.65) * cell);
        context.lineTo((s + 0.65) * cell, (t + 0.35) * cell);
        context.stroke();
      }
    if (!at) return;
    const cells = under(at);
    if (cells.length === 0) return;
    const [first, last] = [cells[0], cells[cells.length - 1]];
    context.strokeStyle = palette.ink;
    context.lineWidth = 2;
    const [left, top] = [first.s * cell + 1, first.t * cell + 1];
    context.strokeRect(left, top, (last.s + 1) * cell - left - 1, (last.t + 1) * cell - top - 1);
  };
  const add = (to) => {
    const { cells, last } = stroke.current;
    const fresh = line(last ?? to, to)
      .flatMap(under)
      .filter(({ t, s }) => !cells.has(t * S + s));
    for (const one of fresh) cells.set(one.t * S + one.s, one);
    stroke.current.last = to;
    if (fresh.length > 0) paint(session, fresh, hide, stroke.current.gesture);
  };
  const press = (event) => {
    if (event.button !== 0) return;
    event.preventDefault();
    canvas.current.setPointerCapture(event.pointerId);
    stroke.current = { cells: new Map(), last: null, gesture: `brush ${++strokes}` };
    add(cellAt(event));
    draw(cellAt(event));
  };
  const move = (event) => {
    const at = cellAt(event);
    session.setHover(full || at.s <= at.t ? at : null);
    if (stroke.current) {
      const between = event.getCoalescedEvents?.() ?? [];
      for (const one of between.length > 0 ? between : [event]) add(cellAt(one));
    }
    draw(at);
  };
  const end = () => {
    if (!stroke.current) return;
    stroke.current = null;
    session.endGesture();
    draw(null);
    const words = wordsOf(session);
    session.announce(words.count(countOf(paintedHere(session.state.peek()))));
  };
  useEffect(() => draw(null), [painted, cell, side, session.theme.value]);
  // By keyboard one goes on in the picture.
  useLayoutEffect(() => canvas.current.getRootNode().querySelector('#picture')?.focus({ preventScroll: true }), []);
  return (
    <canvas
      ref={canvas}
      class="brush"
      aria-hidden="true"
      style={px({ left: x, top: y, width: wide, height: side })}
      onPointerDown={press}
      onPointerMove={move}
      onPointerUp={end}
      onPointerCancel={end}
      onPointerLeave={() => {
        session.setHover(null);
        if (!stroke.current) draw(null);
      }}
    />
  );
}

function countOf(text) {
  let count = 0;
  if (text) eachRun(text, (_, from, to) => (count += to - from + 1));
  return count;
}

/** The line of the brush: what it does, where, and the way back. */
export function BrushLine({ kind }) {
  const session = useSession();
  const own = wordsOf(session);
  const state = session.state.value;
  const { painted, scope, layer, head } = state;
  const place = placeIn(scope, layer, head);
  const count = countOf(paintedHere(state));
  const done = () => session.stopBrush();
  useLayoutEffect(() => {
    const key = (event) => {
      if (event.key !== 'Escape' || event.composedPath()[0].closest?.('.menu')) return;
      event.stopPropagation();
      done();
    };
    document.addEventListener('keydown', key, true);
    return () => {
      document.removeEventListener('keydown', key, true);
      done();
    };
  }, []);
  useEffect(() => {
    if (state.view !== matrixOf(session.run.value)) done();
  }, [state.view]);
  return (
    <section class="whatif brushing" aria-label={own.lead}>
      {kind !== 'phone' && <span class="lead">{own.lead}</span>}
      <span class="choice" role="group" aria-label={own.tools}>
        {TOOLS.map((tool) => (
          <button
            key={tool}
            type="button"
            class="word"
            title={own[`${tool}About`]}
            aria-pressed={session.brush.value === tool}
            onClick={() => session.startBrush(tool)}
          >
            {own[tool]}
          </button>
        ))}
      </span>
      <span class="group">
        <span class="label">{own.in}</span>
        <Scopes name={own.lead} />
      </span>
      {kind !== 'phone' && <span class="brush-note">{isLinked(painted) ? `${own.how} ` : `${own.unlinked} `}</span>}
      {kind !== 'phone' && kind !== 'tablet' && <span class="brush-note">{own.count(count)}</span>}
      <span class="actions">
        <button
          type="button"
          class="word"
          disabled={!Object.values(painted).some(Boolean)}
          onClick={() => session.update({ painted: withPlace(painted, place, '', '') })}
        >
          {own.clear}
        </button>
        <button type="button" class="word strong" onClick={done}>
          {own.done}
        </button>
      </span>
    </section>
  );
}
