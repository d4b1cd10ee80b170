// This run and the pinned one: two pictures of the head with their rows at one height, or one picture of what differs.
// Where the texts differ, model/compare.js says which tokens are pairs.

import { useEffect, useRef } from 'preact/hooks';
import { texts as inEnglish } from '../model/compare.en.js';
import { align, rowDifferences, SIGNED } from '../model/compare.js';
import { texts as inChinese } from '../model/compare.zh.js';
import { FIGURES, LABELS, labelSize } from '../model/layout.js';
import { isOpen } from '../model/lessons.js';
import { PALETTE } from '../model/palette.js';
import { placeOf, RAMP, weightAt } from '../model/ramp.js';
import { readingOf, weightsOf } from '../model/reading.js';
import { shown } from '../model/sentence.js';
import { runOf } from '../model/state.js';
import { cellText, plain, px, signed, useSession, weightText } from './context.js';
import { Ramp } from './legend.jsx';
import { isAhead, sized } from './paint.js';
import { looksAhead, measure, Picture } from './picture.jsx';
import { paintPlaced } from './placed.js';
import { Reading } from './reading.jsx';

export { default as styles } from './compare.css';

const TEXTS = { en: inEnglish, zh: inChinese };
const useTexts = () => TEXTS[useSession().language.value];
const MARKS = [-1, -0.25, 0, 0.25, 1];
const BETWEEN = 18;
/** Side by side cells are not to be smaller, where there is another way. */
const SMALL = 12;
/** What a heading above a picture needs. */
const HEADING = 130;
/** Keys of a row that are listed. */
const LISTED = 8;
const COMPACT = 5;

/** Both runs and how their tokens fit; `old` is null where nothing is pinned or read yet. */
function useBoth() {
  const session = useSession();
  const run = session.run.value;
  const pinned = session.versus.value;
  if (!run?.T) return null;
  const names = (pieces) => pieces.map(({ name }) => name);
  const one = (of) => ({
    run: of,
    T: of.T,
    S: of.S,
    names: names(of.pieces),
    keys: names(of.keys),
    weights: weightsOf(of, of.layer, of.head),
  });
  const fits = session.state.value.pinned && pinned && pinned.layer === run.layer && pinned.head === run.head;
  const now = one(run);
  const old = fits && pinned.T > 0 ? one({ ...pinned, large: true, about: run.about }) : null;
  const full =
    !run.about.causal || looksAhead(now.weights, now.T, now.S) || (old && looksAhead(old.weights, old.T, old.S));
  const other = old ?? now;
  return { now, old, full, rows: align(now.names, other.names), columns: align(now.keys, other.keys) };
}

/** The cell that is read, in the tokens of both; -1 where a token has no pair. */
function useCell(both) {
  const session = useSession();
  const alone = session.hover.value ? null : session.beside.value;
  const cell = session.cell.value;
  if (!both || !cell) return null;
  const { rows, columns, old } = both;
  if (alone && old)
    return { now: { t: rows.nowOf(alone.t), s: columns.nowOf(alone.s) }, old: { t: alone.t, s: alone.s } };
  return { now: cell, old: { t: rows.oldOf(cell.t), s: columns.oldOf(cell.s) } };
}

/** Points at a cell, or holds it: given by the tokens of both. */
function usePointing() {
  const session = useSession();
  const isThere = ({ t, s }) => t >= 0 && s >= 0;
  return {
    leave() {
      session.hover.value = null;
      session.beside.value = null;
    },
    point({ now, old }) {
      const was = session.hover.value;
      if (!isThere(now) || was?.t !== now.t || was?.s !== now.s) session.hover.value = isThere(now) ? now : null;
      session.beside.value = isThere(now) ? null : old;
    },
    hold({ now, old }, toggle = true) {
      session.beside.value = isThere(now) ? null : old;
      if (!isThere(now)) return;
      const { cell } = session.state.peek();
      session.look({ cell: toggle && cell?.t === now.t && cell?.s === now.s ? null : now });
    },
  };
}

export function Compare({ width, height, most, compact = false, free = false }) {
  const session = useSession();
  const both = useBoth();
  const state = session.state.value;
  if (isOpen(state)) return <Picture width={width} height={height} most={most} compact={compact} />;
  return (
    <div class="compare" data-way={state.versus}>
      {!both || width <= 0 || height <= 0 ? (
        <div style={px({ height })} />
      ) : both.old && state.versus === 'difference' ? (
        <Difference both={both} room={{ width, height, most, compact, free }} />
      ) : (
        <Beside both={both} room={{ width, height, most, compact, free }} />
      )}
    </div>
  );
}

/** The widest of some words in letters of a size. */
const longest = (names, size) => names.reduce((found, name) => Math.max(found, measure(name, size)), 0);

/**
 * Cells for pictures of so many rows and columns: in one row, or below each other where that would make them small, and
 * where the page may scroll.
 */
function planOf({ width, height, most, free }, { rows, columns, now, old, full, count }) {
  const own = old && (now.names.length !== old.names.length || now.names.some((name, t) => name !== old.names[t]));
  const plan = (down) => {
    const [across, high] = down ? [1, count] : [count, 1];
    let cell = Math.min(width / across / columns.n, free ? Infinity : height / high / rows.n);
    let [left, right, top] = [0, 0, 0];
    for (let round = 0; round < 3; round++) {
      const size = labelSize(cell, most);
      const many = cell < LABELS;
      const label = (side) => (many || !side ? 0 : Math.min(longest(side.names, size), 110));
      left = Math.ceil(many ? 12 : label(now) + 10);
      // The last words of the stairs stand out on the right.
      const out = many ? 0 : Math.min(longest(now.keys.slice(-2), size), 70) - cell;
      right = Math.ceil(BETWEEN + Math.max(full ? 0 : out, 0) + (own && !many ? label(old) + 10 : 0));
      top = full ? Math.ceil(44 + (many ? 0 : Math.max(label(now) * 0.75, 18))) : Math.ceil(size * 1.45);
      const wide = (width - left - (across - 1) * right) / across / columns.n;
      cell = free ? Math.min(wide, 39) : Math.min(wide, (height - high * top - (high - 1) * BETWEEN) / high / rows.n);
    }
    const whole = cell >= 1 ? Math.floor(cell) : Math.max(cell, 0.01);
    const gap = Math.max(rows.n, columns.n) > 40 || whole < 5 ? 0 : 1;
    const [side, wide] = [Math.max(whole * rows.n, 1), Math.max(whole * columns.n, 1)];
    return { down, cell: whole, gap, left, right, top, side, wide, size: labelSize(whole, most), own };
  };
  const [one, other] = [plan(false), plan(true)];
  return count > 1 && (free || (one.cell < SMALL && other.cell > one.cell)) ? other : one;
}

function Beside({ both, room }) {
  const session = useSession();
  const words = session.words.value;
  const texts = useTexts();
  const { now, old, full, rows, columns } = both;
  const at = useCell(both);
  const pointing = usePointing();
  const plan = planOf(room, { rows, columns, now, old, full, count: 2 });
  const { down, left, right, top, side, wide } = plan;
  const tall = down ? 2 * (top + side) + BETWEEN : top + side;
  const height = room.free ? tall : room.height;
  // What stands in one row stands on the base line; below each other they fill the room.
  const first = height - tall + top;
  const second = down ? { x: left, y: first + side + BETWEEN + top } : { x: left + wide + right, y: first };
  const head = words.headInText(now.run.layer, now.run.head);
  const over = height - tall > HEADING;
  const shared = { ...plan, rows, columns, full, pointing };
  const value = (of) => (t, s) => {
    const weight = of.weights[t * of.S + s];
    return isAhead(weight, t, s, full) ? undefined : weight;
  };
  return (
    <div class="picture" style={px({ height })}>
      <Matrix
        {...shared}
        {...now}
        x={left}
        y={first}
        label={texts.nowIn(head)}
        at={at?.now}
        value={value(now)}
        placeRow={rows.rowNow}
        placeColumn={columns.rowNow}
        bothOf={({ t, s }) => ({ now: { t, s }, old: { t: rows.oldOf(t), s: columns.oldOf(s) } })}
        both={both}
      />
      <Heading
        of={now}
        text={session.state.value.text}
        title={texts.now}
        plan={plan}
        x={left}
        y={first}
        full={full}
        over={over}
      />
      {old ? (
        <>
          <Matrix
            {...shared}
            {...old}
            {...second}
            label={texts.oldIn(head)}
            at={at?.old}
            value={value(old)}
            placeRow={rows.rowOld}
            placeColumn={columns.rowOld}
            hideRows={!down && !plan.own}
            bothOf={({ t, s }) => ({ now: { t: rows.nowOf(t), s: columns.nowOf(s) }, old: { t, s } })}
            both={both}
          />
          <Heading
            of={old}
            text={session.state.value.pinned?.text ?? ''}
            title={texts.old}
            plan={plan}
            {...second}
            full={full}
            over={over}
          />
        </>
      ) : (
        <Nothing style={px({ left: second.x, top: second.y, width: wide, height: side })} />
      )}
    </div>
  );
}

/** What to do where nothing is pinned. */
function Nothing({ style }) {
  const session = useSession();
  const texts = useTexts();
  const state = session.state.value;
  if (state.pinned) return <p class="nothing-pinned" style={style} />;
  return (
    <div class="nothing-pinned" style={style}>
      <h2>{texts.nothing}</h2>
      {texts.how.map((line) => (
        <p key={line}>{line}</p>
      ))}
      <button type="button" class="word strong" onClick={() => session.update({ pinned: runOf(session.state.peek()) })}>
        <span class="under">{texts.pin}</span>
      </button>
    </div>
  );
}

/** Which run it is, its text, and what it guesses: in the empty corner, or above. */
function Heading({ of, text, title, plan, x, y, full, over }) {
  const words = useSession().words.value;
  const texts = useTexts();
  const { side, wide, top } = plan;
  const guess = of.run.top?.[0];
  const room = over
    ? { left: x, width: wide, bottom: `calc(100% - ${y - top - 10}px)` }
    : full
      ? { left: x, width: wide, top: y - top }
      : { left: x + 0.44 * wide, width: 0.56 * wide, top: y - 4 };
  const kind = over ? 'over' : full ? 'over short' : 0.5 * side < 120 ? 'small' : '';
  return (
    <div class={`heading ${kind}`} style={px(room)}>
      <h2>{title}</h2>
      {text && <p lang="en">{text}</p>}
      {guess && (
        <p class="guesses">
          {texts.guesses} <i>{shown(guess.text).trim() || '␣'}</i> <b>{words.percent(guess.now)}</b>
        </p>
      )}
    </div>
  );
}

function Difference({ both, room }) {
  const session = useSession();
  const words = session.words.value;
  const texts = useTexts();
  const { now, old, full, rows, columns } = both;
  const at = useCell(both);
  const pointing = usePointing();
  const called = (side, other) => (places) =>
    places.map(({ now: i, old: j }) => {
      if (i < 0) return other[j];
      return j < 0 || side[i] === other[j] ? side[i] : `${side[i]} ⁄ ${other[j]}`;
    });
  const names = called(now.names, old.names)(rows.places);
  const keys = called(now.keys, old.keys)(columns.places);
  const [T, S] = [names.length, keys.length];
  const axes = { rows: { n: T }, columns: { n: S } };
  const plan = planOf(room, { ...axes, now: { names, keys }, old: null, full, count: 1 });
  const { left, top, side, wide } = plan;
  const height = room.free ? top + side : room.height;
  const [x, y] = [left, height - side];
  const weightAtPlace = (of, { t, s }) => {
    if (t < 0 || s < 0) return undefined;
    const weight = of.weights[t * of.S + s];
    return isAhead(weight, t, s, full) ? undefined : weight;
  };
  const cellOf = ({ t, s }) => ({
    now: { t: rows.places[t].now, s: columns.places[s].now },
    old: { t: rows.places[t].old, s: columns.places[s].old },
  });
  const value = (t, s) => {
    const cell = cellOf({ t, s });
    const [a, b] = [weightAtPlace(now, cell.now), weightAtPlace(old, cell.old)];
    // What one of them cannot look at has no weight there: that is a difference, where the other can.
    const [isNow, isThen] = [cell.now, cell.old].map(({ t, s }) => t >= 0 && s >= 0);
    if (!isNow || !isThen || (a === undefined && b === undefined)) return undefined;
    return (a ?? 0) - (b ?? 0);
  };
  const alone = (t, s) => {
    const cell = cellOf({ t, s });
    return value(t, s) === undefined && (weightAtPlace(now, cell.now) ?? weightAtPlace(old, cell.old)) !== undefined;
  };
  const find = (places, { now: i, old: j }) =>
    places.findIndex((place) => (i >= 0 ? place.now === i : place.old === j));
  const found = at && {
    t: find(rows.places, { now: at.now.t, old: at.old.t }),
    s: find(columns.places, { now: at.now.s, old: at.old.s }),
  };
  const head = words.headName(now.run.layer, now.run.head);
  const pairs = rows.places.some(({ now: i, old: j }) => i >= 0 && j >= 0);
  const uneven = rows.places.some(({ now: i, old: j }) => i < 0 || j < 0);
  return (
    <div class="picture" style={px({ height })}>
      <Matrix
        {...plan}
        {...axes}
        full={full}
        names={names}
        keys={keys}
        T={T}
        S={S}
        x={x}
        y={y}
        label={texts.differenceIn(words.headInText(now.run.layer, now.run.head))}
        at={found}
        value={value}
        alone={alone}
        signs
        placeRow={(t) => t}
        placeColumn={(s) => s}
        pointing={pointing}
        bothOf={cellOf}
        both={both}
        faint={(t) => rows.places[t].now < 0}
      />
      <div
        class={`corner ${full ? 'above' : ''}`}
        style={px({
          left: full ? x : undefined,
          top: full ? 0 : Math.max(y - 60, 0),
          width: full ? undefined : 0.62 * side,
          right: `calc(100% - ${x + wide}px)`,
        })}
      >
        <h2>{head}</h2>
        <p>{pairs ? texts.difference : texts.noPairs}</p>
        {!full && !room.compact && uneven && pairs && <p class="small-note">{texts.alone}</p>}
      </div>
    </div>
  );
}

/** A picture whose tokens stand at places of a common grid. */
function Matrix(given) {
  const { x, y, side, wide, cell, T, S, names, keys, full, label, value, signs, alone, both, size, hideRows } = given;
  const session = useSession();
  const texts = useTexts();
  const theme = session.theme.value;
  const base = useRef(/** @type {any} */ (null));
  const colours = signs ? SIGNED[theme] : RAMP[theme];
  useEffect(() => paintPlaced(base.current, given, colours, PALETTE[theme]));
  const { at, bothOf, pointing, placeRow, placeColumn } = given;
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
    session.hover.value = null;
    pointing.hold(found, false);
    session.say(
      texts.both(names[t], keys[s], spokenOf(texts, both.now, found.now), spokenOf(texts, both.old, found.old)),
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
              <span
                key={`c${s}`}
                class={`key-label ${full ? 'slanted' : ''}`}
                style={px({
                  left: x + placeColumn(s) * cell + (full ? cell / 2 : 2),
                  top: y + stairs - size * 1.32 - 1,
                })}
              >
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
function Touched({ at: { t, s }, x, y, cell, gap, size, names, keys, full, hideRows, ...given }) {
  const { placeRow, placeColumn, value, signs, colours } = given;
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
      {!(hideRows && labels) && (
        <span
          class="row-label asks"
          style={px({
            fontSize: size,
            left: 'auto',
            right: `calc(100% - ${x - 9}px)`,
            top: top + (labels ? 0 : cell / 2 - 9),
            lineHeight: `${labels ? cell : 18}px`,
          })}
        >
          {names[t]}
        </span>
      )}
      <span
        class={`key-label answers ${full ? 'slanted' : ''}`}
        style={px({ fontSize: size, left: left + (full ? cell / 2 : 2), top: stairs - size * 1.32 - 1 })}
      >
        {keys[s]}
      </span>
    </div>
  );
}

/** +.52, and 0 for what is no difference. */
const differenceText = (d) =>
  Number.isNaN(d) ? '' : Math.abs(d) < 0.005 ? '0' : signed(d).replace(/0\./, '.').replace('1.00', '1.0');

/** +0.52, and 0.00 without a sign. */
const by = (d) => (Math.abs(d) < 0.005 ? '0.00' : signed(d));

const weightIn = (of, { t, s }) => (t < 0 || s < 0 ? undefined : of.weights[t * of.S + s]);
/** A weight as it is spoken. */
function spokenOf(texts, of, at) {
  const weight = of && weightIn(of, at);
  return weight === undefined || weight === null ? texts.nowhere : weightText(weight);
}

/** What the colours of a difference mean. */
export function CompareMarks({ wide }) {
  const session = useSession();
  const texts = useTexts();
  const state = session.state.value;
  const theme = session.theme.value;
  const bar = useRef(/** @type {any} */ (null));
  const signs = state.versus === 'difference' && state.pinned !== null && !isOpen(state);
  useEffect(() => {
    if (!signs) return;
    const context = sized(bar.current, wide, 10);
    for (let i = 0; i < wide; i++) {
      const place = (2 * i) / (wide - 1) - 1;
      context.fillStyle = SIGNED[theme].css(Math.sign(place) * weightAt(Math.abs(place)));
      context.fillRect(i, 0, 1, 10);
    }
  }, [wide, theme, signs]);
  if (!signs) return <Ramp wide={wide} />;
  return (
    <div class="ramp" style={px({ width: wide })} role="img" aria-label={texts.signed}>
      <canvas ref={bar} />
      {MARKS.filter((mark) => wide > 150 || mark % 1 === 0).map((mark) => (
        <span key={mark} style={px({ left: `${50 + 50 * Math.sign(mark) * placeOf(Math.abs(mark))}%` })}>
          {mark === 0 ? '0' : signed(mark, mark % 1 === 0 ? 0 : 2)}
        </span>
      ))}
    </div>
  );
}

function Columns() {
  return useTexts().columns.map((name) => (
    <th key={name} scope="col">
      {name}
    </th>
  ));
}

/** The cell and its row, in both runs and what differs. */
export function CompareReading({ compact = false, title = true }) {
  const session = useSession();
  const both = useBoth();
  const at = useCell(both);
  const words = session.words.value;
  const texts = useTexts();
  if (!both?.old || !at) return <Reading compact={compact} title={title} />;
  const { now, old, columns } = both;
  const mine = at.now.t >= 0 && at.now.s >= 0;
  const [of, cell] = mine ? [now, at.now] : [old, at.old];
  const readings = [
    [now, at.now],
    [old, at.old],
  ].map(([{ run, ...side }, { t, s }]) => (t < 0 || s < 0 ? null : { ...readingOf(run, { t, s }), ...side }));
  const lines = /** @type {[string, string, (x: number) => string][]} */ ([
    ['weight', texts.weight, weightText],
    ['score', texts.score, plain],
    ['adds', texts.adds(shown(now.run.chosen?.text ?? '').trim()), signed],
  ]).filter(([name]) => readings.some((r) => Number.isFinite(r?.[name]) || name === 'weight'));
  const [rowNow, rowOld] = [at.now.t, at.old.t];
  const list = rowDifferences(
    columns.places,
    (s) => (rowNow < 0 ? null : now.weights[rowNow * now.S + s]),
    (s) => (rowOld < 0 ? null : old.weights[rowOld * old.S + s]),
    compact ? COMPACT : LISTED,
  );
  const same = JSON.stringify(session.state.value.pinned) === JSON.stringify(runOf(session.state.value));
  return (
    <section class="reading comparing" aria-label={texts.table}>
      {title && (
        <h2 class="title">
          <span class="query">{of.names[cell.t]}</span> {words.looksAt} <span class="key">{of.keys[cell.s]}</span>
        </h2>
      )}
      <table>
        <thead>
          <tr>
            <td />
            <Columns />
          </tr>
        </thead>
        <tbody>
          {lines.map(([name, label, write]) => {
            const [a, b] = readings.map((r) => r?.[name]);
            const known = [a, b].every(Number.isFinite);
            return (
              <tr key={name} data-name={name}>
                <th scope="row">{label}</th>
                <td>{readings[0] ? write(a) : '–'}</td>
                <td>{readings[1] ? write(b) : '–'}</td>
                <td>{known ? by(a - b) : ''}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
      {same ? (
        <p class="how">{texts.same}</p>
      ) : (
        <>
          <h3>{texts.row(rowNow >= 0 ? now.names[rowNow] : old.names[rowOld])}</h3>
          <p class="how">{texts.rowAbout}</p>
          <table class="row-table">
            <thead>
              <tr>
                <th scope="col">{texts.key}</th>
                <Columns />
              </tr>
            </thead>
            <tbody>
              {list.map(({ now: i, old: j, a, b, by: d }) => (
                <tr key={`${i}.${j}`}>
                  <th scope="row">
                    <i>{i < 0 ? old.keys[j] : now.keys[i]}</i>
                    {i >= 0 && j >= 0 && now.keys[i] !== old.keys[j] && <i class="faint"> ⁄ {old.keys[j]}</i>}
                  </th>
                  <td>{a === null ? '–' : weightText(a)}</td>
                  <td>{b === null ? '–' : weightText(b)}</td>
                  <td>{d === null ? '' : by(d)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </>
      )}
    </section>
  );
}
