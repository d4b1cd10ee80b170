// What stands beside the text of an opened model, and the reading of weights alone.

import { px, useSession, weightText } from '../../ui/context.js';
import { RAMP } from '../heatmap/colourRamp.js';
import { shownWeights } from '../heatmap/meanOfHeads.js';
import { Title } from '../reading/cellTitle.jsx';

/** Keys of a row that are told. */
const TOLD = 8;

/** Which attention of an encoder–decoder; the second text; another picture. */
export function Beside() {
  const session = useSession();
  const words = session.words.value;
  const about = session.about.value;
  const state = session.state.value;
  if (!about) return null;
  return (
    <>
      {about.reads === 'pair' && (
        <input
          class="second"
          aria-label={words.open.second}
          placeholder={words.open.second}
          value={state.second}
          onInput={(event) => session.update({ second: event.currentTarget.value, cell: null }, 'second')}
          onKeyDown={(event) => event.stopPropagation()}
        />
      )}
      {about.parts?.length > 1 && (
        <span class="choice parts" role="group" aria-label={words.open.partOf}>
          {about.parts.map((part) => (
            <button
              key={part}
              type="button"
              class="word"
              aria-pressed={state.part === part}
              onClick={() => session.update({ part, cell: null })}
            >
              {words.open.parts[part]}
            </button>
          ))}
        </span>
      )}
      {about.batch > 1 && <Entry count={about.batch} />}
      {about.reads === 'picture' && (
        <label class="word strong file">
          {words.open.another}
          <input
            type="file"
            accept="image/*"
            data-name="picture"
            onChange={(event) => {
              const [file] = event.currentTarget.files ?? [];
              if (file) session.opening.open([{ path: file.name, file }]);
              event.currentTarget.value = '';
            }}
          />
        </label>
      )}
    </>
  );
}

/** Which entry of a batch. */
function Entry({ count }) {
  const session = useSession();
  const words = session.words.value.open;
  const entry = Math.min(session.state.value.entry, count - 1);
  const choose = (next) => {
    if (!(next >= 0 && next < count) || next === entry) return;
    session.update({ entry: next, cell: null }, 'entry');
    session.announce(words.entryIs(next, count));
  };
  const step = (by, name, sign) => (
    <button
      type="button"
      class="word sign"
      aria-label={name}
      disabled={entry + by < 0 || entry + by >= count}
      onClick={() => choose(entry + by)}
    >
      {sign}
    </button>
  );
  return (
    <span class="choice entry" role="group" aria-label={words.entryIs(entry, count)}>
      {step(-1, words.entryBefore, '‹')}
      <label>
        {words.entry}{' '}
        <input
          type="number"
          min={0}
          max={count - 1}
          value={entry}
          style={{ width: `${String(count).length + 1}ch` }}
          onChange={(event) => {
            choose(Math.min(Math.max(Math.round(event.currentTarget.valueAsNumber) || 0, 0), count - 1));
            event.currentTarget.value = String(Math.min(session.state.peek().entry, count - 1));
          }}
          onBlur={session.endGesture}
          onKeyDown={(event) => event.stopPropagation()}
        />{' '}
        {words.ofBatch(count)}
      </label>
      {step(1, words.entryAfter, '›')}
    </span>
  );
}

/** Covers the word that asks, or the one under the pointer. */
export function Cover() {
  const session = useSession();
  const words = session.words.value;
  const run = session.run.value;
  const cell = session.cell.value;
  const mask = run?.about.mask;
  const piece = cell && run?.pieces[cell.t];
  if (!mask || !piece || piece.end <= piece.start || piece.name === mask) return null;
  const cover = () => {
    const { text } = session.state.value;
    session.update({ text: `${text.slice(0, piece.start)}${piece.space}${mask}${text.slice(piece.end)}` });
  };
  return (
    <button type="button" class="word write cover" onClick={cover}>
      {words.open.cover(piece.name)}
    </button>
  );
}

/** Without queries, keys and values: the row, the largest weights first. */
export function RowReading({ title = true }) {
  const session = useSession();
  const words = session.words.value;
  const run = session.run.value;
  const cell = /** @type {{ t: number, s: number }} */ (session.cell.value);
  const { mean } = session.state.value;
  const row = shownWeights(run, mean).subarray(cell.t * run.S, (cell.t + 1) * run.S);
  const ramp = RAMP[session.theme.value];
  const first = largest(row, TOLD);
  const list = first.includes(cell.s) ? first : [...first.slice(0, -1), cell.s];
  const sum = row.reduce((a, w) => a + w, 0);
  const most = Math.max(...list.map((s) => row[s] || 0), 0.01);
  return (
    <section class="reading" aria-label={words.how}>
      {title && <Title run={run} cell={cell} />}
      <p class="how">{mean === 'head' ? words.open.onlyRow : words.means.about}</p>
      <ul class="keys-list">
        {list.map((s) => (
          <li key={s} class={s === cell.s ? 'here' : ''}>
            <span class="token">{run.keys[s].name}</span>
            <span
              class="share"
              style={px({ width: `${(100 * (row[s] || 0)) / most}%`, background: ramp.css(Math.max(row[s], 0.3)) })}
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

/** Places of the largest weights. */
function largest(row, count) {
  const found = [];
  for (let s = 0; s < row.length; s++) {
    if (found.length === count && !(row[s] > row[found[count - 1]])) continue;
    let at = found.length;
    while (at > 0 && row[s] > row[found[at - 1]]) at--;
    found.splice(at, 0, s);
    found.length = Math.min(found.length, count);
  }
  return found;
}
