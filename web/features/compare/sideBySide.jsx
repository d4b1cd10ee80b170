// Two runs beside each other: their rows stand at one height.

import { runOf } from '../../store/runInput.js';
import { px, useSession } from '../../ui/context.js';
import { shown } from '../prompt/tokens.js';
import { BETWEEN, Matrix, planOf } from './alignedHeatmap.jsx';
import { weightIn } from './tokenPairs.js';
import { useTexts } from './twoRuns.js';

/** What a heading above a picture needs. */
const HEADING = 130;
/** What a word takes more in bold letters, and stands off its cell. */
const BOLDER = 10;

export function Beside({ both, at, room }) {
  const session = useSession();
  const words = session.words.value;
  const texts = useTexts();
  const { now, old, full, rows, columns } = both;
  // With nothing pinned one picture has all the room, and what to do stands in its empty half.
  const alone = !session.state.value.pinned && !full && !room.free;
  const plan = planOf(room, { rows, columns, now, old, full, count: alone ? 1 : 2 });
  const { down, left, right, top, out, side, wide } = plan;
  const tall = down ? 2 * (top + side) + BETWEEN : top + side;
  const height = room.free ? tall : room.height;
  // What stands in one row stands on the base line; below each other they fill the room.
  const first = height - tall + top;
  const second = down
    ? { x: left, y: first + side + BETWEEN + top }
    : { x: Math.max(left + wide + right, Math.floor(room.width - wide - (out > 0 ? out + BOLDER : 0))), y: first };
  const head = words.headInText(now.run.layer, now.run.head);
  const over = height - tall > HEADING;
  const shared = { ...plan, rows, columns, full };
  const value = (of) => (t, s) => weightIn(of, full, { t, s });
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
      {!alone && (
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
      )}
      {alone ? (
        <Nothing style={px({ left: left + 0.42 * wide, top: Math.max(first - top, 0), width: 0.58 * wide })} corner />
      ) : old ? (
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
function Nothing({ style, corner = false }) {
  const session = useSession();
  const texts = useTexts();
  const state = session.state.value;
  if (state.pinned) return <p class="nothing-pinned" style={style} />;
  return (
    <div class={`nothing-pinned ${corner ? 'in-corner' : ''}`} style={style}>
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
