// The cell that is read and its row as numbers: in the current run, in the pinned run, and their difference.

import type { ComponentChildren } from 'preact';
import { type RunPair, rowDifferences, type Side } from '../../drawing/tokenPairs.ts';
import type { Cell } from '../../drawing/types.ts';
import { readingOf } from '../../model/derivation.ts';
import { plain, signed, weightText } from '../../model/numbers.ts';
import { runOf } from '../../model/runInput.ts';
import { shown } from '../../model/tokens.ts';
import { Named } from '../../parts/cellTitle.tsx';
import { useSession } from '../../store/context.ts';
import { hasValues } from '../../store/runParts.ts';
import { useKeyboardScroll } from '../../ui/useKeyboardScroll.ts';
import { Reading } from '../reading/feature.ts';
import { type CellPair, runPairIn, useCell, useTexts } from './twoRuns.ts';
export type ComparedRuns = RunPair & { old: Side };

/** Maximum number of keys in the list of a row: in the reading column, on a small screen, and above the pictures. */
const MAX_KEYS = { usual: 8, compact: 5, spread: 4 };

/** spread: true if the reading is above the pictures; title: true if the names of the cell's tokens are shown. */
export function CompareReading({
  compact = false,
  title = true,
  spread = false,
}: {
  compact?: boolean;
  title?: boolean;
  spread?: boolean;
}) {
  const session = useSession();
  const pair = runPairIn(session);
  const read = useCell(pair);
  const texts = useTexts();
  const scrolled = useKeyboardScroll();
  const old = pair?.old;
  if (!pair || !old || !read) return spread ? null : <Reading compact={compact} title={title} />;
  const runs = { ...pair, old };
  const { pinned } = session.state.value;
  const isSame = JSON.stringify(pinned) === JSON.stringify(runOf(session.state.value));
  return (
    <section class="reading comparing" aria-label={texts.table} ref={scrolled}>
      <div>
        {title && <CellName runs={runs} read={read} />}
        <CellTable runs={runs} read={read} />
      </div>
      {isSame ? (
        <p class="how">{texts.same}</p>
      ) : (
        <RowTable runs={runs} read={read} count={MAX_KEYS[spread ? 'spread' : compact ? 'compact' : 'usual']} />
      )}
    </section>
  );
}

const isThere = ({ t, s }: Cell) => t >= 0 && s >= 0;

/** Shows the tokens of the cell: those of the current run, or of the pinned run if only that has the cell. */
function CellName({ runs: { now, old }, read }: { runs: ComparedRuns; read: CellPair }) {
  const words = useSession().words.value;
  const [side, cell] = isThere(read.now) ? [now, read.now] : [old, read.old];
  return (
    <h2 class="title">
      <Named kind="query" names={side.names} index={cell.t} /> {words.looksAt}{' '}
      <Named kind="key" names={side.keys} index={cell.s} />
    </h2>
  );
}

function Columns() {
  return useTexts().columns.map((name) => (
    <th key={name} scope="col">
      {name}
    </th>
  ));
}

function CellTable({ runs: { now, old }, read }: { runs: ComparedRuns; read: CellPair }) {
  const session = useSession();
  const texts = useTexts();
  const readingIn = ({ run }: Side, cell: Cell) => (isThere(cell) && hasValues(run) ? readingOf(run, cell) : null);
  const readings = [readingIn(now, read.now), readingIn(old, read.old)];
  const contribution = (
    <>
      {texts.adds[0]} <i>{shown(now.run.chosen?.text ?? '').trim() || '␣'}</i> {texts.adds[1]} (
      {session.words.value.logit})
    </>
  );
  const all = [
    ['weight', texts.weight, weightText],
    ['score', texts.score, plain],
    ['adds', contribution, signed],
  ] as ['weight' | 'score' | 'adds', ComponentChildren, (x: number) => string][];
  const lines = all.filter(([name]) => name === 'weight' || readings.some((r) => Number.isFinite(r?.[name])));
  return (
    <table>
      <thead>
        <tr>
          <td />
          <Columns />
        </tr>
      </thead>
      <tbody>
        {lines.map(([name, label, write]) => {
          const [a, b] = readings.map((reading) => reading?.[name]);
          return (
            <tr key={name} data-name={name}>
              <th scope="row">{label}</th>
              <td>{readings[0] ? write(Number(a)) : '–'}</td>
              <td>{readings[1] ? write(Number(b)) : '–'}</td>
              <td>{Number.isFinite(a) && Number.isFinite(b) ? signed(Number(a) - Number(b)) : ''}</td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

/** A table of the keys of a row whose weights differ most. */
function RowTable({ runs: { now, old, columns }, read, count }: { runs: ComparedRuns; read: CellPair; count: number }) {
  const texts = useTexts();
  const [rowNow, rowOld] = [read.now.t, read.old.t];
  const weightOf =
    ({ weights, S }: Side, t: number) =>
    (s: number) =>
      t < 0 ? null : weights[t * S + s];
  const list = rowDifferences(columns.places, weightOf(now, rowNow), weightOf(old, rowOld), count);
  return (
    <div>
      <h3>
        {texts.row[0]} <span class="query">{rowNow >= 0 ? now.names[rowNow] : old.names[rowOld]}</span> {texts.row[1]}
      </h3>
      <p class="how">{texts.rowAbout}</p>
      <table class="row-table">
        <thead>
          <tr>
            <th scope="col">{texts.key}</th>
            <Columns />
          </tr>
        </thead>
        <tbody>
          {list.map(({ now: i, old: j, a, b, by }) => (
            <tr key={`${i}.${j}`}>
              <th scope="row">
                <i>{i < 0 ? old.keys[j] : now.keys[i]}</i>
                {i >= 0 && j >= 0 && now.keys[i] !== old.keys[j] && <i class="faint"> ⁄ {old.keys[j]}</i>}
              </th>
              <td>{a === null ? '–' : weightText(a)}</td>
              <td>{b === null ? '–' : weightText(b)}</td>
              <td>{by === null ? '' : signed(by)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
