// The reading column for attention weights without queries, keys and values. It lists the largest weights of a row.

import { RAMP } from '../../drawing/colourRamp.ts';
import type { Cell, Run } from '../../drawing/types.ts';
import { shownWeights } from '../../model/meanOfHeads.ts';
import { weightText } from '../../model/numbers.ts';
import { Title } from '../../parts/cellTitle.tsx';
import { useSession } from '../../store/context.ts';
import { px } from '../../ui/px.ts';
import { useKeyboardScroll } from '../../ui/useKeyboardScroll.ts';

const JOINED: Record<string, string> = {
  en: 'Words: weights of the tokens of a key are added, those of a query averaged.',
  zh: '按词：键的各词元的权重相加，查询的各词元的权重取平均。',
};
const MAX_KEYS = 8;

export function RowReading({ run, cell, title = true }: { run: Run; cell: Cell; title?: boolean }) {
  const session = useSession();
  const words = session.words.value;
  const scrolled = useKeyboardScroll();
  const { mean } = session.state.value;
  const row = shownWeights(run, mean).subarray(cell.t * run.S, (cell.t + 1) * run.S);
  const ramp = RAMP[session.theme.value];
  const first = largest(row, MAX_KEYS);
  const list = first.includes(cell.s) ? first : [...first.slice(0, -1), cell.s];
  const sum = row.reduce((a, w) => a + w, 0);
  const max = Math.max(...list.map((s) => row[s] || 0), 0.01);
  return (
    <section class="reading" aria-label={words.how} ref={scrolled}>
      {title && <Title run={run} cell={cell} />}
      <p class="how">
        {run.joined ? JOINED[session.language.value] : mean === 'head' ? words.open.onlyRow : words.means.about}
      </p>
      <ul class="keys-list">
        {list.map((s) => (
          <li key={s} class={s === cell.s ? 'here' : ''}>
            <span class="token">{run.keys[s].name}</span>
            <span
              class="share"
              style={px({ width: `${(100 * (row[s] || 0)) / max}%`, background: ramp.css(Math.max(row[s], 0.3)) })}
            />
            <b>{row[s] > 0 && row[s] < 0.005 ? '<0.01' : weightText(row[s])}</b>
          </li>
        ))}
      </ul>
      <p class="adds">
        <span>{words.open.rowAbout}</span>
        <b data-name="sum">{weightText(sum)}</b>
      </p>
    </section>
  );
}

function largest(row: ArrayLike<number>, count: number) {
  const found: number[] = [];
  for (let s = 0; s < row.length; s++) {
    if (found.length === count && !(row[s] > row[found[count - 1]])) continue;
    let at = found.length;
    while (at > 0 && row[s] > row[found[at - 1]]) at--;
    found.splice(at, 0, s);
    found.length = Math.min(found.length, count);
  }
  return found;
}
