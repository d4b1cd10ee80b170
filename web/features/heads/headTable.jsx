// The scores of all heads as a table, in the reading column: sorted by a column, and taken along as CSV.

import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { useSession } from '../../ui/context.js';
import { download } from '../../ui/download.js';
import { fileName } from '../export/csv.js';
import { weightsOf } from '../reading/derivation.js';
import { spreadOf } from './headScores.js';
import { table as inEnglish } from './headTable.en.js';
import { table as inChinese } from './headTable.zh.js';

export { default as styles } from './headTable.css';

/** Every head with what is known of it. */
function headsOf(run) {
  const { T, S, about, scores } = run;
  const all = [];
  for (let layer = 0; layer < about.layers; layer++)
    for (let head = 0; head < about.heads; head++) {
      const weights = weightsOf(run, layer, head);
      if (weights) all.push({ layer, head, ...spreadOf(weights, T, S), ...scores?.[layer]?.[head] });
    }
  return all;
}
const figure = (x) => (Number.isFinite(x) ? x.toFixed(2) : '');

export function HeadTable() {
  const session = useSession();
  const words = session.words.value;
  const own = session.language.value === 'zh' ? inChinese : inEnglish;
  const run = session.run.value;
  const state = session.state.value;
  const [by, setBy] = useState('');
  const title = useRef(/** @type {any} */ (null));
  const close = () => session.update({ panel: 'reading' });
  useLayoutEffect(() => title.current?.focus(), []);
  if (!run?.T) return <section class="reading" />;
  const heads = headsOf(run);
  const columns = Object.keys(own.columns).filter((name) => heads.some((one) => Number.isFinite(one[name])));
  const low = (x) => (Number.isFinite(x) ? x : Number.NEGATIVE_INFINITY);
  if (by) heads.sort((a, b) => low(b[by]) - low(a[by]));
  const save = () => {
    const lines = heads.map((one) => [one.layer, one.head, ...columns.map((name) => one[name] ?? '')]);
    const csv = [['layer', 'head', ...columns], ...lines].map((line) => `${line.join(',')}\r\n`).join('');
    download(fileName(['headlight', state.model, 'heads'], 'csv'), 'text/csv', csv);
  };
  const onKeyDown = (event) => {
    if (event.key !== 'Escape') return;
    event.stopPropagation();
    close();
  };
  return (
    <section class="adding heads-table" aria-label={own.title} onKeyDown={onKeyDown}>
      <h2 class="title" tabIndex={-1} ref={title}>
        {own.title}
      </h2>
      <p class="how">{run.large ? own.large : own.about}</p>
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
          <thead>
            <tr>
              <th scope="col" aria-sort={by === '' ? 'ascending' : undefined}>
                <button type="button" onClick={() => setBy('')}>
                  {own.head}
                </button>
              </th>
              {columns.map((name) => (
                <th key={name} scope="col" aria-sort={by === name ? 'descending' : undefined}>
                  <button type="button" onClick={() => setBy(name)}>
                    {own.columns[name]}
                  </button>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {heads.map((one) => (
              <tr key={`${one.layer}.${one.head}`}>
                <th scope="row">
                  <button
                    type="button"
                    title={words.headName(one.layer, one.head)}
                    aria-pressed={one.layer === state.layer && one.head === state.head}
                    onClick={() => session.update({ layer: one.layer, head: one.head }, 'head')}
                  >
                    {one.layer}.{one.head}
                  </button>
                </th>
                {columns.map((name) => (
                  <td key={name}>{figure(one[name])}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
