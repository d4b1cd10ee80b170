// A picture whose tokens stand at places of a grid that two runs share: one of two beside each other, or their
// difference.

import { useEffect, useRef } from 'preact/hooks';
import { cellText, px, signed, useSession, weightText } from '../../ui/context.js';
import { FIGURES, LABELS, LARGEST, labelSize, labelsAbove } from '../../ui/layout.js';
import { PALETTE } from '../../ui/palette.js';
import { RAMP } from '../heatmap/colourRamp.js';
import { BOLD, keyLabel, measure, Names } from '../heatmap/heatmap.jsx';
import { spokenName } from '../prompt/tokens.js';
import { paintPlaced } from './paintAligned.js';
import { SIGNED, weightIn } from './tokenPairs.js';
import { usePointing, useTexts } from './twoRuns.js';

export const BETWEEN = 18;
/** Side by side cells are not to be smaller, where there is another way. */
const SMALL = 12;

/** The widest of some words in letters of a size. */
const longest = (names, size) => names.reduce((found, name) => Math.max(found, measure(name, size)), 0);

/**
 * Cells for pictures of so many rows and columns: in one row, or below each other where that would make them small, and
 * where the page may scroll.
 */
export function planOf({ width, height, most, free }, { rows, columns, now, old, full, count }) {
  const own = old && (now.names.length !== old.names.length || now.names.some((name, t) => name !== old.names[t]));
  const plan = (down) => {
    const [across, high] = down ? [1, count] : [count, 1];
    let cell = Math.min(width / across / columns.n, free ? Infinity : height / high / rows.n, LARGEST);
    let [left, right, top, out] = [0, 0, 0, 0];
    let level = false;
    for (let round = 0; round < 3; round++) {
      const size = labelSize(cell, most);
      const many = cell < LABELS;
      const label = (side) => (many || !side ? 0 : Math.min(longest(side.names, size), 110));
      left = Math.ceil(many ? 12 : label(now) + 10);
      // The last words of the stairs stand out on the right.
      out = many || full ? 0 : Math.max(Math.min(BOLD * longest(now.keys.slice(-2), size), 70) - cell, 0);
      right = Math.ceil(BETWEEN + out + (own && !many ? label(old) + 10 : 0));
      const labels = labelsAbove(label(now), size, cell);
      level = full && labels.level;
      top = Math.ceil(full ? 44 + (many ? 0 : labels.rise) : size * 1.45);
      const wide = (width - left - (across - 1) * right) / across / columns.n;
      cell = free
        ? Math.min(wide, 39)
        : Math.min(wide, (height - high * top - (high - 1) * BETWEEN) / high / rows.n, LARGEST);
    }
    const whole = cell >= 1 ? Math.floor(cell) : Math.max(cell, 0.01);
    const gap = Math.max(rows.n, columns.n) > 40 || whole < 5 ? 0 : 1;
    const [side, wide] = [Math.max(whole * rows.n, 1), Math.max(whole * columns.n, 1)];
    return { down, cell: whole, gap, left, right, top, out, side, wide, level, size: labelSize(whole, most), own };
  };
  const [one, other] = [plan(false), plan(true)];
  return count > 1 && (free || (one.cell < SMALL && other.cell > one.cell)) ? other : one;
}

/** A picture whose tokens stand at places of a common grid. */
export function Matrix(given) {
  const { x, y, side, wide, cell, T, S, names, keys, full, label, value, signs, alone, both, size, hideRows } = given;
  const session = useSession();
  const texts = useTexts();
  const pointing = usePointing();
  const theme = session.theme.value;
  const base = useRef(/** @type {any} */ (null));
  const colours = signs ? SIGNED[theme] : RAMP[theme];
  useEffect(() => paintPlaced(base.current, given, colours, PALETTE[theme]));
  const { at, bothOf, placeRow, placeColumn } = given;
  const isHere = at && at.t >= 0 && at.s >= 0 && at.t < T && at.s < S;
  const cellAt = (event) => {
    const box = base.current.getBoundingClientRect();
    const [c, r] = [event.clientX - box.left, event.clientY - box.top].map((d) => Math.floor(d / cell));
    // Few tokens are moved from their own place: those below a gap.
    const t = names.findIndex((_, t) => placeRow(t) === r);
    const s = keys.findIndex((_, s) => placeColumn(s) === c);
    return t >= 0 && s >= 0 && (value(t, s) !== undefined || alone?.(t, s)) ? { t, s } : null;
  };
  const point = (event) => {
    if (event.pointerType === 'touch') return;
    const found = cellAt(event);
    if (found) pointing.point(bothOf(found));
    else pointing.leave();
  };
  const press = (event) => {
    const found = cellAt(event);
    if (found) pointing.hold(bothOf(found));
  };
  const walk = (event) => {
    const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    if (!step && event.key !== 'Home' && event.key !== 'End') return;
    event.preventDefault();
    event.stopPropagation();
    const now = isHere ? at : { t: T - 1, s: 0 };
    const next = step
      ? { t: now.t + step[0], s: now.s + step[1] }
      : { t: now.t, s: event.key === 'Home' ? 0 : full ? S - 1 : now.t };
    const t = Math.min(Math.max(next.t, 0), T - 1);
    const s = Math.min(Math.max(next.s, 0), full ? S - 1 : Math.min(t, S - 1));
    const found = bothOf({ t, s });
    session.setHover(null);
    pointing.hold(found, false);
    session.announce(
      texts.both(
        spokenName(names, t),
        spokenName(keys, s),
        spokenOf(texts, both.now, found.now),
        spokenOf(texts, both.old, found.old),
      ),
    );
  };
  return (
    <>
      <div
        class="matrix"
        id={given.hideRows === undefined ? 'picture' : undefined}
        tabIndex={0}
        role="application"
        aria-label={label}
        style={px({ left: x, top: y, width: wide, height: side })}
        onPointerMove={point}
        onPointerLeave={pointing.leave}
        onPointerDown={press}
        onKeyDown={walk}
      >
        <canvas ref={base} aria-hidden="true" />
      </div>
      {cell >= LABELS && (
        <div class="labels" style={px({ fontSize: size })} aria-hidden="true">
          {!hideRows &&
            names.map((name, t) => (
              <span
                key={`r${t}`}
                class={`row-label ${given.faint?.(t) ? 'faint' : ''}`}
                style={px({ left: x - 120, width: 111, top: y + placeRow(t) * cell, lineHeight: `${cell}px` })}
              >
                {name}
              </span>
            ))}
          {keys.map((name, s) => {
            const stairs = full ? 0 : (placeRow(Math.min(s, T - 1)) ?? 0) * cell;
            return (
              <span key={`c${s}`} {...keyLabel(given, x + placeColumn(s) * cell, y + stairs)}>
                {name}
              </span>
            );
          })}
        </div>
      )}
      {isHere && <Touched {...given} colours={colours} />}
    </>
  );
}

/** Blue from the row's label, red from the key's, and the cell where they meet. */
function Touched(given) {
  const { at, x, y, cell, gap, names, keys, full, hideRows, placeRow, placeColumn, value, signs, colours } = given;
  const { t, s } = at;
  const [left, top] = [x + placeColumn(s) * cell, y + placeRow(t) * cell];
  const stairs = y + (full ? 0 : placeRow(Math.min(s, names.length - 1)) * cell);
  const box = Math.max(cell - gap, 1);
  const labels = cell >= LABELS;
  return (
    <div class="cross" aria-hidden="true">
      <span class="red" style={px({ left: left - 1, top: stairs, height: Math.max(top - stairs, 0) })} />
      <span class="blue" style={px({ left: x - 4, top: top - 1, width: Math.max(left - x + 4, 4) })} />
      {cell >= FIGURES &&
        keys.map((_, k) => {
          const number = value(t, k);
          return number === undefined ? null : (
            <span
              key={k}
              class={`figure ${k === s ? 'here' : ''} ${colours.isLight(number) ? 'dark' : 'pale'}`}
              style={px({ left: x + placeColumn(k) * cell, top, width: box, lineHeight: `${box}px` })}
            >
              {signs ? differenceText(number) : cellText(number)}
            </span>
          );
        })}
      <span class="cell-frame" style={px({ left: left - 2, top: top - 2, width: box + 4, height: box + 4 })} />
      <Names row={hideRows && labels ? null : names[t]} column={keys[s]} grid={given} at={{ left, top, stairs }} />
    </div>
  );
}

/** +.52, and 0 for what is no difference. */
const differenceText = (d) =>
  Number.isNaN(d) ? '' : Math.abs(d) < 0.005 ? '0' : signed(d).replace(/0\./, '.').replace('1.00', '1.0');

/** A weight as it is spoken. */
function spokenOf(texts, of, at) {
  const weight = of && weightIn(of, true, at);
  return weight === undefined || weight === null ? texts.nowhere : weightText(weight);
}
