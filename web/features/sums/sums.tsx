// Sums of rows or columns of the heatmap. A drag over their labels, or Shift and the arrow keys, selects the rows or
// columns.

import type { Picture } from '../../drawing/types.ts';
import { shownWeights } from '../../model/meanOfHeads.ts';
import { weightText } from '../../model/numbers.ts';
import { Named } from '../../parts/cellTitle.tsx';
import { useColours } from '../../parts/useColours.ts';
import { useSession } from '../../store/context.ts';
import type { Session } from '../../store/session.ts';
import { px } from '../../ui/px.ts';
import { useKeyboardScroll } from '../../ui/useKeyboardScroll.ts';
import { type Added, type Axis, extended, placesBetween, readSum, totalsOf, writeSum } from './added.ts';
import { texts as inEnglish } from './sums.en.ts';
import { texts as inChinese } from './sums.zh.ts';

export { default as styles } from './sums.css';

const TEXTS = { en: inEnglish, zh: inChinese };
const textsIn = (session: Session) => TEXTS[session.language.value as 'en' | 'zh'];
const MAX_LISTED = 8;

/** Returns the rows or columns that are added, without those that the picture does not have. */
function addedIn({ state, run }: Session) {
  const added = readSum(state.value.sum);
  const count = (added?.axis === 'rows' ? run.value?.T : run.value?.S) ?? 0;
  const places = added?.places.filter((place) => place < count) ?? [];
  return added && places.length > 0 ? { ...added, places } : null;
}

/** Draws frames around the rows or columns that are added. */
export function Sums({ picture: { x, y, cell, T, S, full, matrixWidth, matrixHeight } }: { picture: Picture }) {
  const added = addedIn(useSession());
  if (!added) return null;
  const { axis, places } = added;
  return stretches(places).map(([from, to]) => {
    const size = (to - from) * cell;
    const box =
      axis === 'rows'
        ? { left: x, top: y + from * cell, width: full ? matrixWidth : Math.min(to, S) * cell, height: size }
        : {
            left: x + from * cell,
            top: y + (full ? 0 : Math.min(from, T - 1) * cell),
            width: size,
            height: full ? matrixHeight : (T - Math.min(from, T - 1)) * cell,
          };
    return <span key={from} class="sum-frame" style={px(box)} />;
  });
}

/** Returns groups of neighbouring rows or columns, each as its first position and the position after its last. */
function stretches(places: number[]) {
  const list: [number, number][] = [];
  for (const place of places) {
    const last = list[list.length - 1];
    if (last?.[1] === place) last[1]++;
    else list.push([place, place + 1]);
  }
  return list;
}

function show(session: Session, sum: string) {
  if (sum === session.state.peek().sum) return;
  session.update({ sum }, 'sum');
  const added = addedIn(session);
  const run = session.run.value;
  if (!added || !run) return;
  const totals = totalsOf(added, { ...run, weights: shownWeights(run, session.state.value.mean) });
  const most = totals.reduce((best, one) => (one.weight > best.weight ? one : best));
  const [ours, theirs] = added.axis === 'rows' ? [run.pieces, run.keys] : [run.keys, run.pieces];
  const names = added.places.map((place) => ours[place].name).join(' + ');
  session.announce(textsIn(session).spoken(names, theirs[most.place].name, weightText(most.weight)));
}

/** Extends the sum after Shift and an arrow key. */
export function extend(session: Session, picture: Picture, key: string) {
  const read = session.cell.value;
  if (!read) return;
  // The cell that is read is chosen, because it is the fixed end of the sum.
  if (!session.state.value.cell) session.look({ cell: read });
  show(session, extended(addedIn(session), key, read, picture));
}

/** Handles a press on a label: a drag adds the labels it passes, Control adds or removes one label. */
export function drag(session: Session, picture: Picture, pressed: PointerEvent, label: HTMLElement) {
  const area = label.closest('.picture')?.querySelector('.matrix') as HTMLElement | null;
  if (!area) return;
  const axis: Axis = label.classList.contains('row-label') ? 'rows' : 'columns';
  // The position along the columns counts for a label of a column. Any other label is at the height of its row.
  const isAcross = label.classList.contains('key-label');
  const count = isAcross ? picture.S : picture.T;
  const placeAt = ({ clientX, clientY }: PointerEvent) => {
    const { left, top } = area.getBoundingClientRect();
    const place = Math.floor((isAcross ? clientX - left : clientY - top) / picture.cell);
    return Math.min(Math.max(place, 0), count - 1);
  };
  const from = placeAt(pressed);
  if (pressed.ctrlKey || pressed.metaKey) {
    const before = addedIn(session);
    const places = before?.axis === axis ? before.places : [];
    return show(session, writeSum(axis, places.includes(from) ? places.filter((p) => p !== from) : [...places, from]));
  }
  const move = (event: PointerEvent) => {
    if (event.pointerId !== pressed.pointerId) return;
    if (event.buttons === 0) return end();
    const to = placeAt(event);
    if (to !== from || session.state.peek().sum) show(session, writeSum(axis, placesBetween(from, to)));
  };
  const end = () => {
    for (const kind of ['pointerup', 'pointercancel'] as const) removeEventListener(kind, end);
    removeEventListener('pointermove', move);
    session.endGesture();
  };
  addEventListener('pointermove', move);
  for (const kind of ['pointerup', 'pointercancel'] as const) addEventListener(kind, end);
}

/** The reading column of a sum, with the tokens that have the largest totals. */
export function SumPanel({ title = true }: { title?: boolean }) {
  const session = useSession();
  const own = textsIn(session);
  const run = session.run.value;
  const added = addedIn(session);
  const scrolled = useKeyboardScroll();
  if (!run || !added) return <section class="reading" />;
  const { axis, places } = added;
  const [ours, theirs] = axis === 'rows' ? [run.pieces, run.keys] : [run.keys, run.pieces];
  const turn = (to: Axis) => session.update({ sum: writeSum(to, places) });
  return (
    <section class="reading sum" aria-label={own.title} ref={scrolled}>
      {title && (
        <h2 class="title" tabIndex={-1}>
          {places.map((place, i) => (
            <span key={place}>
              {i > 0 && ' + '}
              <Named kind={axis === 'rows' ? 'query' : 'key'} names={ours.map(({ name }) => name)} index={place} />
            </span>
          ))}
          {own.summed}
        </h2>
      )}
      <p class="how">{own[axis]}</p>
      <Totals added={added} names={theirs.map(({ name }) => name)} />
      <p class="sum-acts">
        {run.T === run.S && (
          <span class="choice" role="group" aria-label={own.axis}>
            <button type="button" class="word" aria-pressed={axis === 'rows'} onClick={() => turn('rows')}>
              {own.asRows}
            </button>
            <button type="button" class="word" aria-pressed={axis === 'columns'} onClick={() => turn('columns')}>
              {own.asColumns}
            </button>
          </span>
        )}
        <button type="button" class="word" onClick={() => session.update({ sum: '' })}>
          {own.close}
        </button>
      </p>
      <p class="how">{own.keys}</p>
    </section>
  );
}

function Totals({ added, names }: { added: Added; names: string[] }) {
  const session = useSession();
  const ramp = useColours();
  const run = session.run.value;
  if (!run) return null;
  const totals = totalsOf(added, { ...run, weights: shownWeights(run, session.state.value.mean) });
  const largest = [...totals].sort((a, b) => b.weight - a.weight).slice(0, MAX_LISTED);
  const most = Math.max(...largest.map(({ weight }) => weight), 0.01);
  return (
    <ul class="keys-list">
      {largest.map(({ place, weight }) => (
        <li key={place}>
          <span class="token" lang="en">
            <Named kind={added.axis === 'rows' ? 'key' : 'query'} names={names} index={place} />
          </span>
          <span
            class="share"
            style={px({ width: `${(100 * weight) / most}%`, background: ramp.css(Math.max(weight, 0.3)) })}
          />
          <b>{weightText(weight)}</b>
        </li>
      ))}
    </ul>
  );
}
