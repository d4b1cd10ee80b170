// The reading column for written words. Each word has its probability, and the token to which the head attended most
// when the word was written.

import { field, fileName } from '../../drawing/export/csv.ts';
import { percentText, weightText } from '../../model/numbers.ts';
import type { Run } from '../../model/types.ts';
import { Named, Title } from '../../parts/cellTitle.tsx';
import { useColours } from '../../parts/useColours.ts';
import { useSession } from '../../store/context.ts';
import type { Session } from '../../store/session.ts';
import { download } from '../../ui/download.ts';
import { px } from '../../ui/px.ts';
import { useKeyboardScroll } from '../../ui/useKeyboardScroll.ts';
import { showRows, textsIn, type WrittenWord, writtenWords } from './writtenWords.ts';

export function WrittenPanel({ title = true }: { title?: boolean }) {
  const session = useSession();
  const own = textsIn(session);
  const run = session.run.value;
  const cell = session.cell.value;
  const scrolled = useKeyboardScroll();
  if (!run || !cell) return <section class="reading written-words" />;
  const list = writtenWords(session, run);
  const isWriting = session.writing.value;
  const goOn = () => {
    showRows(session, run, run.T, false);
    session.write();
  };
  return (
    <section class="reading written-words" aria-label={own.title} ref={scrolled}>
      {title && <Title run={run} cell={cell} />}
      <p class="how">{own.about}</p>
      <Words run={run} list={list} />
      <p class="how">{own.signs}</p>
      <p class="written-acts">
        <button type="button" class="word strong" onClick={isWriting ? session.stopWriting : goOn}>
          {isWriting ? own.stop : own.goOn}
        </button>
        <button type="button" class="word" disabled={isWriting} onClick={() => showRows(session, run, 1, true)}>
          {own.playBack}
        </button>
        <button type="button" class="word" onClick={() => saveRows(session, run, list)}>
          {own.save}
        </button>
      </p>
    </section>
  );
}

function Words({ run, list }: { run: Run; list: WrittenWord[] }) {
  const session = useSession();
  const own = textsIn(session);
  const ramp = useColours();
  const names = run.keys.map(({ name }) => name);
  const [wrote, chance, looked] = own.columns;
  return (
    <table onPointerLeave={() => session.setHover(null)}>
      <thead>
        <tr>
          <th scope="col">{wrote}</th>
          <th scope="col">{chance}</th>
          <th scope="col" colSpan={2}>
            {looked}
          </th>
        </tr>
      </thead>
      <tbody lang="en">
        {list.map(({ t, s, weight, probability }) => (
          <tr key={t} onPointerEnter={() => session.setHover({ t: t - 1, s })}>
            <th scope="row">
              <button type="button" onClick={() => session.look({ cell: { t: t - 1, s } })}>
                <i>{run.pieces[t].name}</i>
              </button>
            </th>
            <td>{probability === null ? own.notYet : percentText(probability)}</td>
            <td>
              <Named kind="key" names={names} index={s} />
            </td>
            <td class="weight" title={weightText(weight)}>
              <span style={px({ width: `${100 * weight}%`, background: ramp.css(weight) })} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function saveRows(session: Session, run: Run, list: WrittenWord[]) {
  const own = textsIn(session);
  const rows = list.map(({ t, s, weight, probability }) => [
    field(run.pieces[t].name),
    probability ?? '',
    field(run.keys[s].name),
    s,
    weight,
  ]);
  const text = [own.csv.map(field), ...rows].map((row) => `${row.join(',')}\r\n`).join('');
  download(fileName([own.title], 'csv'), 'text/csv', text);
}
