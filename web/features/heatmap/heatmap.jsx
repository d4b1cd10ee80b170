// The large picture: rows ask, columns answer. The key labels stand where their columns begin, along the stairs of a
// causal picture, and the empty corner holds the head's name. A view is given its room: width and height.

import { useEffect, useRef } from 'preact/hooks';
import { cellText, px, reducedMotion, useSession, weightText } from '../../ui/context.js';
import { DENSE, FIGURES, LABELS, pictureOf, topOf } from '../../ui/layout.js';
import { later } from '../../ui/lazy.jsx';
import { PALETTE } from '../../ui/palette.js';
import { rowsWithNothing } from '../heads/roles.js';
import { eachRun } from '../mask/hiddenCells.js';
import { spokenName } from '../prompt/tokens.js';
import { isAhead, looksAhead } from '../reading/derivation.js';
import { shownTrade } from '../story/shownRoles.js';
import { effective, isOff } from '../whatif/edits.js';
import { Corner } from './headTitle.jsx';
import { shownWeights } from './meanOfHeads.js';
import { paintCells, paintPooled, sized } from './paint.js';
import { useColours } from './useColours.js';

const Lens = later(() => import('./lens.jsx'), 'Lens');
const loadBrush = () => import('../mask/brush.jsx');
const Brush = later(loadBrush, 'Brush');

const FADE = 200;
/** What a name may take of the page's margin. */
const EDGE = 12;
const SERIF = '"Iowan Old Style", Palatino, "Source Serif", Charter, "Noto Serif", Georgia, "Songti SC", serif';

/** From a column's edge to its label. */
const KEY_IN = 2;
/** The name that is touched is written in bold letters, at most so much wider. */
export const BOLD = 1.15;

/** @type {any} */
let ruler;
/** How wide a text is in serif letters of a size. */
export function measure(text, size) {
  ruler ??= document.createElement('canvas').getContext('2d');
  ruler.font = `${size}px ${SERIF}`;
  return ruler.measureText(text).width;
}

/** The picture of the head shown, in the room that there is. */
export function usePicture({ width, height, most, tallest = Infinity, bare = false }) {
  const session = useSession();
  const run = session.run.value;
  if (!run?.T || !run.S || width <= 0 || height <= 0) return null;
  const { mean } = session.state.value;
  const weights = shownWeights(run, mean);
  const full = !run.about.causal || looksAhead(weights, run.T, run.S);
  const { T, S } = run;
  const names = run.pieces.map(({ name }) => name);
  const keys = run.keys.map(({ name }) => name);
  // Labels that are not drawn need no room.
  const many = Math.min(width / S, height / T) < LABELS;
  const longest = (size) => [...names, ...keys].reduce((found, name) => Math.max(found, measure(name, size)), 0);
  const widest = many ? () => 100 : longest;
  // A name that is pointed at is written in bold letters.
  const reach = (size, cell) => keys.map((name, s) => BOLD * measure(name, size) + KEY_IN - (S - s) * cell);
  const beyond = (size, cell) => (cell < LABELS ? 0 : Math.max(0, ...reach(size, cell)));
  const grid = pictureOf({ width, height, tokens: T, keys: S, most, widest, beyond, full, tallest, bare });
  const room = width - grid.left;
  const ids = T === S && !full && mean === 'head' ? run.pieces.map(({ id }) => id) : [];
  const nothing = rowsWithNothing(shownTrade(session, run.layer, run.head), ids);
  return { ...grid, run, weights, full, names, keys, nothing, T, S, x: grid.left, y: topOf(height, grid), room };
}

/** bare: its name stands elsewhere. */
export function Picture({ width, height, most, compact = false, bare = false }) {
  const session = useSession();
  const words = session.words.value;
  const picture = usePicture({ width, height, most, bare });
  const base = useRef(/** @type {any} */ (null));
  const held = useRef(false);
  const theme = session.theme.value;
  const state = session.state.value;
  const off = isOff(state, state.layer, state.head);
  const ramp = useColours();
  useFade(
    base,
    picture,
    { theme, ramp, colours: state.colours },
    effective(state.painted, state.layer, state.head, ''),
  );
  if (!picture) return <div class="picture" style={px({ height })} />;
  const { run, weights, names, keys, T, S, x, y, cell, side, wide, full } = picture;

  const cellAt = (event) => {
    const box = base.current.getBoundingClientRect();
    const [s, t] = [event.clientX - box.left, event.clientY - box.top].map((at) => Math.floor(at / cell));
    return t >= 0 && s >= 0 && t < T && s < S && !isAhead(weights[t * S + s], t, s, full) ? { t, s } : null;
  };
  const point = (event) => {
    if (event.pointerType === 'touch' && !held.current) return;
    const found = cellAt(event);
    const was = session.hover.value;
    if (found?.t !== was?.t || found?.s !== was?.s) session.setHover(found);
  };
  const press = (event) => {
    const found = cellAt(event);
    if (!found) return;
    const { cell: now } = state;
    if (event.pointerType === 'touch') held.current = true;
    session.look({ cell: now && now.t === found.t && now.s === found.s ? null : found });
  };
  const walk = (event) => {
    const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    const now = session.cell.value;
    if (!now) return;
    let next = null;
    if (step) next = { t: now.t + step[0], s: now.s + step[1] };
    else if (event.key === 'Home') next = { t: now.t, s: 0 };
    else if (event.key === 'End') next = { t: now.t, s: full ? S - 1 : now.t };
    else if (event.key === 'PageUp') next = { t: 0, s: 0 };
    else if (event.key === 'PageDown') next = { t: T - 1, s: now.s };
    else if (event.key === 'Enter' || event.key === ' ') {
      event.preventDefault();
      if (event.key === ' ' && session.brush.value) return void loadBrush().then(({ toggle }) => toggle(session, now));
      return session.look({ cell: state.cell ? null : now });
    }
    if (!next) return;
    event.preventDefault();
    event.stopPropagation();
    const t = Math.min(Math.max(next.t, 0), T - 1);
    const s = Math.min(Math.max(next.s, 0), full ? S - 1 : t);
    session.setHover(null);
    session.look({ cell: { t, s } });
    session.announce(words.cell(spokenName(names, t), spokenName(keys, s), weightText(weights[t * S + s])));
  };
  const labels = cell >= LABELS;
  const dense = !labels && !full;
  return (
    <div class={`picture ${off ? 'off' : ''}`} style={px({ height })}>
      <div
        class="matrix"
        id="picture"
        tabIndex={0}
        role="application"
        aria-roledescription={words.views.heatmap}
        aria-label={words.picture(words.headInText(run.layer, run.head))}
        style={px({ left: x, top: y, width: wide, height: side })}
        onPointerMove={point}
        onPointerLeave={() => session.setHover(null)}
        onPointerDown={press}
        onPointerUp={() => (held.current = false)}
        onKeyDown={walk}
      >
        <canvas ref={base} aria-hidden="true" />
      </div>
      <Nothing picture={picture} />
      {labels && <Labels picture={picture} />}
      <Cross picture={picture} />
      {session.brush.value && <Brush picture={picture} />}
      {!bare && <Corner picture={picture} compact={compact || dense} />}
      {dense && !compact && <Lens picture={picture} />}
    </div>
  );
}

/** Rows in which the head has nothing to find are pale. */
function Nothing({ picture: { nothing, x, y, cell, wide } }) {
  const read = useSession().cell.value?.t;
  // The row that is read has figures.
  return nothing
    .filter((t) => t !== read)
    .map((t) => (
      <span key={t} class="pale-row" style={px({ left: x, top: y + t * cell, width: wide, height: cell })} />
    ));
}

/** Cells go over into the next ones by their values, not their colours. */
function useFade(ref, picture, { theme, ramp, colours }, painted) {
  const before = useRef(/** @type {any} */ (null));
  useEffect(() => {
    if (!picture) return;
    const { weights, T, S, cell, gap, side, wide, full } = picture;
    const from = before.current;
    before.current = cell < DENSE ? null : { weights: new Float32Array(weights), T, S };
    const paint = (values) => {
      // The picture may have been left between two frames.
      if (!ref.current) return;
      const context = sized(ref.current, wide, side);
      paintCells(context, values, T, S, { cell, gap, full }, ramp, PALETTE[theme]);
      slashes(context, picture, PALETTE[theme].ink2);
    };
    // Small cells are pooled to pixels.
    if (cell < DENSE) {
      paintPooled(ref.current, weights, T, S, { wide, side, full }, ramp, PALETTE[theme]);
      return bare(ref.current.getContext('2d'), painted, cell);
    }
    const same = from?.T === T && from.S === S;
    if (!same || reducedMotion() || T > 128) return paint(weights);
    const start = performance.now();
    let frame = requestAnimationFrame(function step(now) {
      const share = Math.min(Math.max((now - start) / FADE, 0), 1);
      const eased = 1 - (1 - share) ** 2;
      paint(share === 1 ? weights : weights.map((w, i) => from.weights[i] + eased * (w - from.weights[i])));
      if (share < 1) frame = requestAnimationFrame(step);
    });
    return () => cancelAnimationFrame(frame);
  }, [picture?.weights.buffer, picture?.weights.byteOffset, picture?.cell, picture?.side, theme, colours]);
}

/** What is masked though it does not come later: bare canvas with a slash. */
function slashes(context, { run, T, S, cell, full }, colour) {
  const scores = run.values?.scores;
  if (!scores || cell < 5) return;
  context.strokeStyle = colour;
  context.lineWidth = 1;
  context.beginPath();
  for (let t = 0; t < T; t++)
    for (let s = 0; s < (full ? S : t + 1); s++)
      if (scores[t * S + s] === Number.NEGATIVE_INFINITY) {
        context.clearRect(s * cell, t * cell, cell, cell);
        context.moveTo((s + 0.35) * cell, (t + 0.65) * cell);
        context.lineTo((s + 0.65) * cell, (t + 0.35) * cell);
      }
  context.stroke();
}

/** Among cells that are too small for a slash, what is painted by hand is bare canvas. */
function bare(context, painted, cell) {
  if (painted)
    eachRun(painted, (t, from, to) => context.clearRect(from * cell, t * cell, (to - from + 1) * cell, cell));
}

/**
 * How the label of a key stands whose column begins at a place: along the stairs, or above a full picture in the middle
 * of its cell, slanted where it would be too long.
 */
export const keyLabel = ({ cell, size, full, level }, left, top) => ({
  class: `key-label ${level ? 'level' : full ? 'slanted' : ''}`,
  style: px({ left: left + (full ? cell / 2 : KEY_IN), top: top - size * 1.32 - 1 }),
});

/** Rows on the left; columns along the stairs, or above where the corner is full. */
function Labels({ picture }) {
  const { names, keys, nothing, x, y, cell, size, full } = picture;
  const session = useSession();
  const row = (t) => () => session.setHover({ t, s: -1 });
  const column = (s) => () => session.setHover({ t: Math.max(session.cell.value?.t ?? 0, full ? 0 : s), s });
  const leave = () => session.setHover(null);
  return (
    <div class="labels" lang="en" style={px({ fontSize: size })} aria-hidden="true">
      {names.map((name, t) => (
        <span
          key={`r${t}`}
          class={`row-label ${nothing.includes(t) ? 'faint' : ''}`}
          style={px({ width: x - 9, top: y + t * cell, height: cell, lineHeight: `${cell}px` })}
          onPointerEnter={row(t)}
          onPointerLeave={leave}
          onClick={() => session.look({ cell: { t, s: session.cell.value?.s ?? 0 } })}
        >
          {name}
        </span>
      ))}
      {keys.map((name, s) => (
        <span
          key={`c${s}`}
          {...keyLabel(picture, x + s * cell, y + (full ? 0 : s * cell))}
          onPointerEnter={column(s)}
          onPointerLeave={leave}
        >
          {name}
        </span>
      ))}
    </div>
  );
}

/** Blue from the row's label, red from the key's; they meet at a framed cell. Figures stand in that row alone. */
function Cross({ picture }) {
  const session = useSession();
  const at = session.cell.value;
  const { run, weights, names, keys, T, S, x, y, cell, gap, full } = picture;
  if (!at || at.t >= T || at.s >= S) return null;
  const { t, s } = at;
  const ramp = useColours();
  const [left, top] = [x + s * cell, y + t * cell];
  const stairs = y + (full ? 0 : s * cell);
  const ahead = isAhead(weights[t * S + s], t, s, full);
  const side = Math.max(cell - gap, 1);
  return (
    <div class="cross" lang="en" aria-hidden="true">
      {!ahead && <span class="red" style={px({ left: left - 1, top: stairs, height: Math.max(top - stairs, 0) })} />}
      <span class="blue" style={px({ left: x - 4, top: top - 1, width: Math.max((ahead ? 0 : left) - x + 4, 4) })} />
      {cell >= FIGURES &&
        keys.map((_, k) => {
          const weight = weights[t * S + k];
          const hidden = run.values?.scores[t * S + k] === Number.NEGATIVE_INFINITY;
          return hidden || isAhead(weight, t, k, full) ? null : (
            <span
              key={k}
              class={`figure ${k === s ? 'here' : ''} ${ramp.isLight(weight) ? 'dark' : 'pale'}`}
              style={px({ left: x + k * cell, top, width: side, lineHeight: `${side}px`, '--cell': cell })}
            >
              {cellText(weight)}
            </span>
          );
        })}
      {!ahead && (
        <span class="cell-frame" style={px({ left: left - 2, top: top - 2, width: side + 4, height: side + 4 })} />
      )}
      <Names row={names[t]} column={keys[s]} grid={picture} at={{ left, top, stairs }} />
    </div>
  );
}

/** What the row and the key that are read are called, where they stand; a row may be named beside another picture. */
export function Names({ row, column, grid, at: { left, top, stairs } }) {
  const { x, cell, size } = grid;
  const label = keyLabel(grid, left, stairs);
  const labels = cell >= LABELS;
  const high = labels ? cell : 18;
  return (
    <>
      {row !== null && (
        <span
          class="row-label asks"
          style={px({
            fontSize: size,
            left: 'auto',
            // Beside small cells there may be less room than a name takes.
            right: `calc(100% - ${labels ? x - 9 : Math.max(x - 6, BOLD * measure(row, size) - EDGE)}px)`,
            top: top + (labels ? 0 : cell / 2 - 9),
            height: high,
            lineHeight: `${high}px`,
          })}
        >
          {row}
        </span>
      )}
      <span class={`${label.class} answers`} style={{ ...label.style, fontSize: `${size}px` }}>
        {column}
      </span>
    </>
  );
}
