// What differs between two runs, in one picture, and what its colours mean.

import { useEffect, useRef } from 'preact/hooks';
import { px, signed, useSession } from '../../ui/context.js';
import { placeOf, weightAt } from '../heatmap/colourRamp.js';
import { Ramp } from '../heatmap/legend.jsx';
import { sized } from '../heatmap/paint.js';
import { isOpen } from '../train/lessons.js';
import { Matrix, planOf } from './alignedHeatmap.jsx';
import { differenceOf, SIGNED } from './tokenPairs.js';
import { useTexts } from './twoRuns.js';

const MARKS = [-1, -0.25, 0, 0.25, 1];
const SEEN = 0.005;

export function Difference({ both, at, room }) {
  const session = useSession();
  const words = session.words.value;
  const texts = useTexts();
  const { now, old, full, rows, columns } = both;
  const { names, keys, cellOf, value, alone } = differenceOf(both);
  const [T, S] = [names.length, keys.length];
  const axes = { rows: { n: T }, columns: { n: S } };
  const plan = planOf(room, { ...axes, now: { names, keys }, old: null, full, count: 1 });
  const { left, top, side, wide } = plan;
  const height = room.free ? top + side : room.height;
  const [x, y] = [left, height - side];
  const find = (places, { now: i, old: j }) =>
    places.findIndex((place) => (i >= 0 ? place.now === i : place.old === j));
  const found = at && {
    t: find(rows.places, { now: at.now.t, old: at.old.t }),
    s: find(columns.places, { now: at.now.s, old: at.old.s }),
  };
  const head = words.headName(now.run.layer, now.run.head);
  const pairs = rows.places.some(({ now: i, old: j }) => i >= 0 && j >= 0);
  const same = pairs && isSame(now, old);
  const uneven = rows.places.some(({ now: i, old: j }) => i < 0 || j < 0);
  return (
    <div class="picture" style={px({ height })}>
      <Matrix
        {...plan}
        {...axes}
        full={full}
        names={names}
        keys={keys}
        T={T}
        S={S}
        x={x}
        y={y}
        label={texts.differenceIn(words.headInText(now.run.layer, now.run.head))}
        at={found}
        value={value}
        alone={alone}
        signs
        placeRow={(t) => t}
        placeColumn={(s) => s}
        bothOf={({ t, s }) => cellOf(t, s)}
        both={both}
        faint={(t) => rows.places[t].now < 0}
      />
      <div
        class={`corner ${full ? 'above' : ''}`}
        style={px({
          left: full ? x : undefined,
          top: full ? 0 : Math.max(y - 60, 0),
          width: full ? undefined : 0.62 * side,
          right: `calc(100% - ${x + wide}px)`,
        })}
      >
        <h2>{head}</h2>
        {/* A phone has room for one sentence. */}
        {!(same && room.compact) && <p>{pairs ? texts.difference : texts.noPairs}</p>}
        {same && <p class={room.compact ? '' : 'small-note'}>{texts.equal}</p>}
        {!full && !room.compact && uneven && pairs && <p class="small-note">{texts.alone}</p>}
      </div>
    </div>
  );
}

/** Whether no weight of the head differs so much that it could be seen. */
const isSame = (now, old) =>
  now.weights.length === old.weights.length && now.weights.every((w, i) => Math.abs(w - old.weights[i]) < SEEN);

/** What the colours of a difference mean. */
export function CompareMarks({ wide }) {
  const session = useSession();
  const texts = useTexts();
  const state = session.state.value;
  const theme = session.theme.value;
  const bar = useRef(/** @type {any} */ (null));
  const signs = state.versus === 'difference' && state.pinned !== null && !isOpen(state);
  useEffect(() => {
    if (!signs) return;
    const context = sized(bar.current, wide, 10);
    for (let i = 0; i < wide; i++) {
      const place = (2 * i) / (wide - 1) - 1;
      context.fillStyle = SIGNED[theme].css(Math.sign(place) * weightAt(Math.abs(place)));
      context.fillRect(i, 0, 1, 10);
    }
  }, [wide, theme, signs]);
  if (!signs) return <Ramp wide={wide} />;
  return (
    <div class="ramp" style={px({ width: wide })} role="img" aria-label={texts.signed}>
      <canvas ref={bar} />
      {MARKS.filter((mark) => wide > 150 || mark % 1 === 0).map((mark) => (
        <span key={mark} style={px({ left: `${50 + 50 * Math.sign(mark) * placeOf(Math.abs(mark))}%` })}>
          {signed(mark, mark % 1 === 0 ? 0 : 2)}
        </span>
      ))}
    </div>
  );
}
