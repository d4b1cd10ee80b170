// The reading column of a trace: the progress of the measurement, the token whose residual stream carries the answer,
// layer by layer, and how much of the answer a patch at one place restores.

import type { GridPart, GridPlace } from '../../../src/js/analysis/patching/patchGrid.ts';
import { plain, signed } from '../../model/numbers.ts';
import { keyOf, ROWS, type Trace } from '../../model/trace/places.ts';
import { isOpen } from '../../model/training/settings.ts';
import { canShow } from '../../model/viewRules.ts';
import { useSession } from '../../store/context.ts';
import { px } from '../../ui/px.ts';
import { Track } from '../../ui/track.tsx';
import { useKeyboardScroll } from '../../ui/useKeyboardScroll.ts';
import { Reading } from '../reading/feature.ts';
import { cellAt, headsOf, movesOf, NOISE, shareText, stretchesOf } from './shares.ts';
import { chosenIn, openCircuit, openInstrument, textsIn, togglePatch, wordOf } from './traceState.ts';
export type Cell = NonNullable<ReturnType<typeof cellAt>>;

/** Maximum number of heads in the list of a layer. */
const MAX_HEADS = 3;

export function TracePanel({ compact = false, title = true }: { compact?: boolean; title?: boolean }) {
  const session = useSession();
  const own = textsIn(session);
  const trace = session.trace.value;
  const scrolled = useKeyboardScroll();
  if (isOpen(session.state.value)) return <Reading compact={compact} title={title} />;
  if (!trace || trace.problem || !session.state.value.pinned) return <section class="reading tracing" />;
  const place = session.tracedPlace.value ?? chosenIn(session);
  const cell = place && cellAt(trace, place);
  const isWhole = trace.done >= trace.total;
  return (
    <section class="reading tracing" aria-label={own.result} ref={scrolled}>
      {place && cell ? (
        <PlaceReading trace={trace} place={place} cell={cell} />
      ) : isWhole ? (
        <h2 class="title">{own.result}</h2>
      ) : (
        <Measuring trace={trace} />
      )}
      <Summary trace={trace} soFar={!isWhole} />
      {!(place && cell) && <p class="how">{isWhole ? own.point : own.canPoint}</p>}
      <Actions place={place && cell ? place : null} />
    </section>
  );
}

function Measuring({ trace }: { trace: Trace }) {
  const own = textsIn(useSession());
  const parts = [...ROWS, 'head'] as GridPart[];
  return (
    <>
      <h2 class="title">{own.measuring}</h2>
      <p class="trace-about">{own.measuringAbout}</p>
      <dl class="trace-parts-done">
        {parts.map((part) => {
          const cells = trace.cells[part];
          if (!cells) return null;
          const known = cells.share.filter((share) => !Number.isNaN(share)).length;
          const equal = trace.same[part]?.filter(Boolean).length ?? 0;
          return (
            <div key={part}>
              <dt>{own.parts[part]}</dt>
              <dd>{own.partDone(known - equal, cells.share.length - equal)}</dd>
            </div>
          );
        })}
      </dl>
    </>
  );
}

function PlaceReading({ trace, place, cell }: { trace: Trace; place: GridPlace; cell: Cell }) {
  const own = textsIn(useSession());
  const share = shareText(cell.share);
  return (
    <>
      <h2 class="title share">{own.share(share)}</h2>
      <p class="trace-about">
        <When trace={trace} place={place} />
      </p>
      {cell.share < -NOISE && <p class="how">{own.away}</p>}
      {cell.share > 1.005 && <p class="how">{own.beyond}</p>}
      <Guesses trace={trace} cell={cell} />
      <MeasureLine trace={trace} value={cell.value} />
      {place.part === 'heads' && <ByHead trace={trace} layer={place.layer} share={share} />}
    </>
  );
}

/** Describes the patch that a share belongs to. */
function When({ trace, place }: { trace: Trace; place: GridPlace }) {
  const own = textsIn(useSession());
  const { part, layer } = place;
  if (part === 'head') {
    const [before, name, after] = own.whenHead;
    return (
      <>
        {before}
        <i>{(name as Function)(own.headName(layer, place.place))}</i>
        {after}
      </>
    );
  }
  const [before, name, at, after] = own.when[part];
  return (
    <>
      {before}
      <i>{(name as Function)(layer)}</i>
      {at}
      <i lang="en">{wordOf(trace, place)}</i>
      {after}
    </>
  );
}

/** Shows both answers. A bar is the probability in the patched run, a tick the probability in the lower sentence. */
function Guesses({ trace: { answers, lower }, cell }: { trace: Trace; cell: Cell }) {
  const session = useSession();
  const own = textsIn(session);
  const { percent } = session.words.value;
  const list = answers.map((word, i) => ({ word, now: [cell.a, cell.b][i], before: lower.both[i] }));
  return (
    <div class="trace-guesses">
      <h3>{own.next}</h3>
      <ul>
        {list.map(({ word, now, before }) => (
          <li key={word}>
            <span class="token">{word}</span>
            <Track now={now} before={before} />
            <b>{percent(now)}</b>
          </li>
        ))}
      </ul>
      <p class="how">
        <span class="mark" />
        {own.before}
      </p>
    </div>
  );
}

/** Shows the measure on a line from the lower run to the upper run. */
function MeasureLine({ trace: { answers, lower, upper }, value }: { trace: Trace; value: number }) {
  const session = useSession();
  const own = textsIn(session);
  const { by } = session.state.value.trace;
  const { percent } = session.words.value;
  const write = by === 'probability' ? percent : by === 'score' ? (x: number) => signed(x, 1) : plain;
  const at = (100 * (value - lower.value)) / (upper.value - lower.value);
  const place = Math.min(Math.max(at, -6), 106);
  return (
    <div class="trace-measure">
      <h3>
        {own.measure[by]} <i>{by === 'score' ? `${answers[0]} − ${answers[1]}` : answers[0]}</i>
      </h3>
      <div class="measure-line" style={px({ '--place': `${place}%` })}>
        <b>{write(value)}</b>
        <span class="done" />
      </div>
      <p>
        <span>{own.lowerAt(write(lower.value))}</span>
        <span>{own.upperAt(write(upper.value))}</span>
      </p>
    </div>
  );
}

function ByHead({ trace, layer, share }: { trace: Trace; layer: number; share: string }) {
  const session = useSession();
  const own = textsIn(session);
  const heads = headsOf(trace, layer);
  if (heads.length === 0) return null;
  const shown = heads.slice(0, MAX_HEADS);
  const others = heads.slice(MAX_HEADS);
  const sum = others.reduce((total, one) => total + one.share, 0);
  const most = Math.max(...heads.map((one) => Math.abs(one.share)), Math.abs(sum), 0.01);
  const rows = [
    ...shown.map(({ head, share: part }) => ({ key: String(head), name: own.headName(layer, head), part, head })),
    ...(others.length > 0 ? [{ key: 'others', name: own.others(others.length), part: sum, head: -1 }] : []),
  ];
  return (
    <div class="trace-heads">
      <h3>
        {own.byHead} <span>{own.alone}</span>
      </h3>
      <ul>
        {rows.map(({ key, name, part, head }) => (
          <li key={key} class={part < 0 ? 'negative' : ''}>
            <button
              type="button"
              disabled={head < 0}
              onClick={() => togglePatch(session, { part: 'head', layer, place: head })}
            >
              <span>{name}</span>
              <span class="track">
                <span class="bar" style={px({ width: `${(100 * Math.abs(part)) / most}%` })} />
              </span>
              <b>{shareText(part)}</b>
            </button>
          </li>
        ))}
      </ul>
      <p class="how">{own.notSum(share)}</p>
    </div>
  );
}

/** Says in one sentence which token's residual stream carries the answer in which layers. */
function Summary({ trace, soFar }: { trace: Trace; soFar: boolean }) {
  const own = textsIn(useSession());
  const stretches = stretchesOf(trace);
  const known = trace.cells.stream?.share.some((share) => !Number.isNaN(share) && share !== 0);
  if (!known) return null;
  const last = stretches.length - 1;
  const moves = movesOf(trace);
  if (last < 0)
    return soFar ? null : (
      <p class="trace-summary">
        {own.nowhere}
        {moves.map((move) => (
          <Move key={move.place} trace={trace} move={move} />
        ))}
      </p>
    );
  const nameOf = ({ from, to }: { place: number; from: number; to: number }, i: number) => {
    if (from === 0 && to === trace.layers - 1) return own.everywhere;
    if (i === 0 && from === 0) return own.upTo(to);
    return to === trace.layers - 1 ? own.from(from, i === 0) : own.within(from, to, i === 0);
  };
  return (
    <p class="trace-summary">
      {soFar && own.soFar}
      {stretches.map((stretch, i) => {
        const text = nameOf(stretch, i);
        const begins = i === 0 && !soFar;
        return (
          <span key={stretch.from}>
            {i > 0 && own.comma}
            {begins ? text[0].toUpperCase() + text.slice(1) : text[0].toLowerCase() + text.slice(1)}
            <i lang="en">{trace.lower.pieces[stretch.place].name}</i>
          </span>
        );
      })}
      {own.period}
      {moves.map((move) => (
        <Move key={move.place} trace={trace} move={move} />
      ))}
    </p>
  );
}

/** Says which head carries the answer to which token. */
function Move({ trace, move: { layer, place, head } }: { trace: Trace; move: ReturnType<typeof movesOf>[number] }) {
  const own = textsIn(useSession());
  const [before, after] = own.carries(layer, head);
  return (
    <span>
      {' '}
      {before}
      <i lang="en">{trace.lower.pieces[place].name}</i>
      {after}
    </span>
  );
}

function Actions({ place }: { place: GridPlace | null }) {
  const session = useSession();
  const own = textsIn(session);
  const isOn = place !== null && session.state.value.patch[keyOf(place)] === 1;
  if (!place || !isOn) return null;
  return (
    <p class="trace-actions">
      <button type="button" class="word strong" onClick={() => openInstrument(session, place)}>
        {own.open}
      </button>
      {canShow('flow', session.run.value) && (
        <button type="button" class="word" onClick={() => openCircuit(session)}>
          {own.openCircuit}
        </button>
      )}
    </p>
  );
}
