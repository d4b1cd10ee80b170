// The difference of two runs in one picture, and the legend of its colours.

import { useEffect, useRef } from 'preact/hooks';
import { signed } from '../../texts/numbers.js';
import { useSession } from '../../ui/context.js';
import { px } from '../../ui/px.js';
import { useSize } from '../../ui/useSize.js';
import { TitleArea } from '../heatmap/headTitle.jsx';
import { paintRamp, Ramp } from '../heatmap/ramp.jsx';
import { isOpen } from '../train/settings.js';
import { Matrix } from './alignedHeatmap.jsx';
import { planOf } from './alignedLayout.js';
import { differenceAt, differenceOf, SIGNED, signedPlace } from './tokenPairs.js';
import { useTexts } from './twoRuns.js';

/** @import { Theme } from '../../ui/palette.js' */
/** @import { ViewProps } from '../heatmap/types.js' */
/** @import { Aligned, RunPair, Side } from './tokenPairs.js' */
/** @import { CellPair } from './twoRuns.js' */
/** @typedef {RunPair & { old: Side }} ComparedRuns */

const MARKS = [-1, -0.25, 0, 0.25, 1];
/** Smaller absolute differences are not visible. */
const MIN_VISIBLE = 0.005;

/** @param {{ runs: ComparedRuns, read: CellPair | null, room: ViewProps }} props */
export function Difference({ runs, read, room }) {
  const words = useSession().words.value;
  const texts = useTexts();
  const { now, full, rows, columns } = runs;
  const { names, keys, cellOf, value, isUnpaired } = differenceOf(runs);
  const axes = { rows: { n: names.length }, columns: { n: keys.length } };
  const plan = planOf(room, { ...axes, now: { names, keys }, old: null, full, count: 1 });
  const height = room.free ? plan.top + plan.matrixHeight : room.height;
  const [x, y] = [plan.left, height - plan.matrixHeight];
  const readHere = read && {
    t: indexOf(rows.places, { now: read.now.t, old: read.old.t }),
    s: indexOf(columns.places, { now: read.now.s, old: read.old.s }),
  };
  return (
    <div class="picture" style={px({ height })}>
      <Matrix
        plan={plan}
        {...axes}
        x={x}
        y={y}
        full={full}
        names={names}
        keys={keys}
        label={texts.differenceIn(words.headInText(now.run.layer, now.run.head))}
        read={readHere}
        value={value}
        isUnpaired={isUnpaired}
        isDifference
        rowOf={(t) => t}
        columnOf={(s) => s}
        pairOf={({ t, s }) => cellOf(t, s)}
        runs={runs}
        isFaint={(t) => rows.places[t].now < 0}
      />
      <Title runs={runs} compact={room.compact} x={x} y={full ? 0 : y} matrixWidth={plan.matrixWidth} />
    </div>
  );
}

/**
 * Returns the position in the grid of a token of either run.
 * @param {Aligned['places']} places
 * @param {{ now: number, old: number }} token
 */
const indexOf = (places, { now, old }) =>
  places.findIndex((place) => (now >= 0 ? place.now === now : place.old === old));

/**
 * The title with the name of the head and the meaning of the colours.
 * @param {{ runs: ComparedRuns, compact?: boolean, x: number, y: number, matrixWidth: number }} props
 */
function Title({ runs, compact = false, x, y, matrixWidth }) {
  const words = useSession().words.value;
  const texts = useTexts();
  const { now, old, full, rows } = runs;
  const isPair = (/** @type {{ now: number, old: number }} */ place) => place.now >= 0 && place.old >= 0;
  const hasPairs = rows.places.some(isPair);
  const isEqual = hasPairs && areEqual(now, old);
  const hasUnpaired = hasPairs && !rows.places.every(isPair);
  return (
    <TitleArea picture={{ run: now.run, above: full, x, y, matrixWidth }} className="">
      <h2>{words.headName(now.run.layer, now.run.head)}</h2>
      {/* A phone has room for one sentence. */}
      {!(isEqual && compact) && <p>{hasPairs ? texts.difference : texts.noPairs}</p>}
      {isEqual && <p class={compact ? '' : 'small-note'}>{texts.equal}</p>}
      {!full && !compact && hasUnpaired && <p class="small-note">{texts.alone}</p>}
    </TitleArea>
  );
}

/** Returns true if no weight of the head differs visibly between the two runs. @param {Side} now @param {Side} old */
const areEqual = (now, old) =>
  now.weights.length === old.weights.length && now.weights.every((w, i) => Math.abs(w - old.weights[i]) < MIN_VISIBLE);

/** The legend of a difference, or the usual legend if no difference is shown. */
export function CompareMarks() {
  const state = useSession().state.value;
  const isDifference = state.versus === 'difference' && state.pinned !== null && !isOpen(state);
  return isDifference ? <DifferenceMarks /> : <Ramp />;
}

function DifferenceMarks() {
  const session = useSession();
  const texts = useTexts();
  /** @type {Theme} */
  const theme = session.theme.value;
  const [box, canvas] = [useRef(null), useRef(/** @type {HTMLCanvasElement | null} */ (null))];
  const { width } = useSize(box);
  useEffect(() => {
    paintRamp(canvas.current, width, (place) => SIGNED[theme].css(differenceAt(place)));
  }, [width, theme]);
  return (
    <div class="ramp" ref={box} role="img" aria-label={texts.signed}>
      <canvas ref={canvas} />
      {MARKS.map((mark) => (
        <span key={mark} style={px({ left: `${100 * signedPlace(mark)}%` })}>
          {signed(mark, mark % 1 === 0 ? 0 : 2)}
        </span>
      ))}
    </div>
  );
}
