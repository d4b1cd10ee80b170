// The cell that is read and its row as numbers: in this run, in the pinned one, and what differs.

import { runOf } from '../../store/runInput.js';
import { plain, signed, useSession, weightText } from '../../ui/context.js';
import { shown } from '../prompt/tokens.js';
import { Named } from '../reading/cellTitle.jsx';
import { readingOf } from '../reading/derivation.js';
import { Reading } from '../reading/reading.jsx';
import { rowDifferences } from './tokenPairs.js';
import { bothIn, useCell, useTexts } from './twoRuns.js';

/** Keys of a row that are listed. */
const LISTED = 8;
const COMPACT = 5;
/** Of a row above the pictures: as many as there is room for. */
const FEW = 4;

function Columns() {
  return useTexts().columns.map((name) => (
    <th key={name} scope="col">
      {name}
    </th>
  ));
}

/** The cell and its row, in both runs and what differs. */
export function CompareReading({ compact = false, title = true, spread = false }) {
  const session = useSession();
  const both = bothIn(session);
  const at = useCell(both);
  const words = session.words.value;
  const texts = useTexts();
  // Until the other run is read.
  if (spread && (!both?.old || !at)) return null;
  if (!both?.old || !at) return <Reading compact={compact} title={title} />;
  const { now, old, columns } = both;
  const mine = at.now.t >= 0 && at.now.s >= 0;
  const [of, cell] = mine ? [now, at.now] : [old, at.old];
  const read = ({ run }, { t, s }) => (t < 0 || s < 0 ? null : readingOf(run, { t, s }));
  const readings = [read(now, at.now), read(old, at.old)];
  const adds = (
    <>
      {texts.adds[0]} <i>{shown(now.run.chosen?.text ?? '').trim() || '␣'}</i> {texts.adds[1]}
    </>
  );
  const lines = /** @type {[string, any, (x: number) => string][]} */ ([
    ['weight', texts.weight, weightText],
    ['score', texts.score, plain],
    ['adds', adds, signed],
  ]).filter(([name]) => readings.some((r) => Number.isFinite(r?.[name]) || name === 'weight'));
  const [rowNow, rowOld] = [at.now.t, at.old.t];
  const list = rowDifferences(
    columns.places,
    (s) => (rowNow < 0 ? null : now.weights[rowNow * now.S + s]),
    (s) => (rowOld < 0 ? null : old.weights[rowOld * old.S + s]),
    spread ? FEW : compact ? COMPACT : LISTED,
  );
  const same = JSON.stringify(session.state.value.pinned) === JSON.stringify(runOf(session.state.value));
  return (
    <section class="reading comparing" aria-label={texts.table}>
      <div>
        {title && (
          <h2 class="title">
            <Named kind="query" names={of.names} at={cell.t} /> {words.looksAt}{' '}
            <Named kind="key" names={of.keys} at={cell.s} />
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
                  <td>{known ? signed(a - b) : ''}</td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
      {same ? (
        <p class="how">{texts.same}</p>
      ) : (
        <div>
          <h3>
            {texts.row[0]} <span class="query">{rowNow >= 0 ? now.names[rowNow] : old.names[rowOld]}</span>{' '}
            {texts.row[1]}
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
              {list.map(({ now: i, old: j, a, b, by: d }) => (
                <tr key={`${i}.${j}`}>
                  <th scope="row">
                    <i>{i < 0 ? old.keys[j] : now.keys[i]}</i>
                    {i >= 0 && j >= 0 && now.keys[i] !== old.keys[j] && <i class="faint"> ⁄ {old.keys[j]}</i>}
                  </th>
                  <td>{a === null ? '–' : weightText(a)}</td>
                  <td>{b === null ? '–' : weightText(b)}</td>
                  <td>{d === null ? '' : signed(d)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}
