// The table of the scores of all heads in the reading column. It is sorted by a column, and can be saved as a CSV file.

import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { fileName } from '../../drawing/export/csv.ts';
import type { Run } from '../../drawing/types.ts';
import { weightsOf } from '../../model/derivation.ts';
import type { Roles, RoleWeights } from '../../model/protocol/protocol.ts';
import { useSession } from '../../store/context.ts';
import { roleName } from '../../store/shownRoles.ts';
import { download } from '../../ui/download.ts';
import { table as inEnglish } from './headTable.en.ts';
import { table as inChinese } from './headTable.zh.ts';
import { spreadOf } from './weightStatistics.ts';

export { default as styles } from './headTable.css';

export type Column = 'entropy' | 'distance' | 'induction' | 'previous' | 'duplicate' | 'itself' | 'first';
export type Row = { layer: number; head: number } & Partial<Record<Column, number>>;

function rowsOf(run: Run): Row[] {
  const { T, S, about, scores } = run;
  const rows = [];
  for (let layer = 0; layer < about.layers; layer++)
    for (let head = 0; head < about.heads; head++) {
      const weights = weightsOf(run, layer, head);
      if (weights) rows.push({ layer, head, ...spreadOf(weights, T, S), ...scores?.[layer]?.[head] });
    }
  return rows;
}

const isKnown = (x: number | undefined) => x !== undefined && Number.isFinite(x);
/** Returns two decimals without a zero before them, because the column is narrow. */
const figure = (x: number | undefined) => (x !== undefined && isKnown(x) ? x.toFixed(2).replace(/^0\./, '.') : '');
/** Returns the value by which a row is sorted. An unknown value comes last. */
const sortValue = (row: Row, column: Column) => (isKnown(row[column]) ? Number(row[column]) : Number.NEGATIVE_INFINITY);

function csvOf(rows: Row[], columns: Column[], roles: Roles | null, weights: RoleWeights | null) {
  const lines = rows.map((row) => {
    const { layer, head } = row;
    const named = [roles?.[layer]?.[head] ?? '', weights?.[layer]?.[head] ?? ''];
    return [layer, head, ...named, ...columns.map((column) => row[column] ?? '')];
  });
  return [['layer', 'head', 'role', 'role_weight', ...columns], ...lines]
    .map((line) => `${line.join(',')}\r\n`)
    .join('');
}

export function HeadTable() {
  const session = useSession();
  const words = session.words.value;
  const own = session.language.value === 'zh' ? inChinese : inEnglish;
  const run = session.run.value;
  const [by, setBy] = useState('' as Column | '');
  const title = useRef(null as HTMLHeadingElement | null);
  const close = () => session.update({ panel: 'reading' });
  useLayoutEffect(() => title.current?.focus(), []);
  if (!run?.T) return <section class="reading" />;
  const rows = rowsOf(run);
  const columns = (Object.keys(own.columns) as Column[]).filter((column) => rows.some((row) => isKnown(row[column])));
  if (by) rows.sort((a, b) => sortValue(b, by) - sortValue(a, by));
  const save = () =>
    download(
      fileName(['headlight', session.state.value.model, 'heads'], 'csv'),
      'text/csv',
      csvOf(rows, columns, session.roles.peek(), session.roleWeights.peek()),
    );
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Escape') return;
    event.stopPropagation();
    close();
  };
  return (
    <section class="adding heads-table" aria-label={own.title} onKeyDown={onKeyDown}>
      <h2 class="title" tabIndex={-1} ref={title}>
        {own.title}
      </h2>
      <p class="how">
        {run.large ? own.large : own.about}
        {run.sound !== undefined && run.sound.unseen > 0 && ` ${own.shown}`}
      </p>
      <p class="ways">
        <button type="button" class="word strong" onClick={save}>
          {own.save}
        </button>
        <button type="button" class="word" onClick={close}>
          {words.close}
        </button>
      </p>
      <div class="scrolls" tabIndex={0} role="group" aria-label={own.title}>
        <table>
          <Header columns={columns} by={by} setBy={setBy} own={own} />
          <tbody>
            {rows.map((row) => (
              <HeadRow key={`${row.layer}.${row.head}`} row={row} columns={columns} />
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

/** The headings, which sort the table by their column. At first it is sorted by layer and head. */
function Header({
  columns,
  by,
  setBy,
  own,
}: {
  columns: Column[];
  by: Column | '';
  setBy: (by: Column | '') => void;
  own: typeof inEnglish;
}) {
  return (
    <thead>
      <tr>
        <th scope="col" aria-sort={by === '' ? 'ascending' : undefined}>
          <button type="button" onClick={() => setBy('')}>
            {own.head}
          </button>
        </th>
        <th scope="col" class="role-column">
          {own.role}
        </th>
        {columns.map((column) => (
          <th key={column} scope="col" aria-sort={by === column ? 'descending' : undefined}>
            <button type="button" onClick={() => setBy(column)}>
              {own.columns[column]}
            </button>
          </th>
        ))}
      </tr>
    </thead>
  );
}

function HeadRow({ row, columns }: { row: Row; columns: Column[] }) {
  const session = useSession();
  const state = session.state.value;
  const { layer, head } = row;
  const role = session.roles.value?.[layer]?.[head];
  return (
    <tr>
      <th scope="row">
        <button
          type="button"
          title={session.words.value.headName(layer, head)}
          aria-pressed={layer === state.layer && head === state.head}
          onClick={() => session.update({ layer, head }, 'head')}
        >
          {layer}.{head}
        </button>
      </th>
      <td class="role-column">{role ? roleName(session, role) : ''}</td>
      {columns.map((column) => (
        <td key={column}>{figure(row[column])}</td>
      ))}
    </tr>
  );
}
