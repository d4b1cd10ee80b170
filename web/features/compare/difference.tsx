// The difference of two runs in one picture, and the legend of its colours.

import { useEffect, useRef } from 'preact/hooks';
import {
  type Aligned,
  differenceAt,
  differenceOf,
  type RunPair,
  SIGNED,
  type Side,
  signedPlace,
} from '../../drawing/tokenPairs.ts';
import type { ViewProps } from '../../drawing/types.ts';
import { signed } from '../../model/numbers.ts';
import { isOpen } from '../../model/training/settings.ts';
import { TitleArea } from '../../parts/headTitle.tsx';
import { paintRamp, Ramp } from '../../parts/ramp.tsx';
import { useSession } from '../../store/context.ts';
import type { Theme } from '../../ui/palette.ts';
import { px } from '../../ui/px.ts';
import { useSize } from '../../ui/useSize.ts';
import { Matrix } from './alignedHeatmap.tsx';
import { planOf } from './alignedLayout.ts';
import { type CellPair, useTexts } from './twoRuns.ts';
export type ComparedRuns = RunPair & { old: Side };

const MARKS = [-1, -0.25, 0, 0.25, 1];
/** Smaller absolute differences are not visible. */
const MIN_VISIBLE = 0.005;

export function Difference({ runs, read, room }: { runs: ComparedRuns; read: CellPair | null; room: ViewProps }) {
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

const indexOf = (places: Aligned['places'], { now, old }: { now: number; old: number }) =>
  places.findIndex((place) => (now >= 0 ? place.now === now : place.old === old));

function Title({
  runs,
  compact = false,
  x,
  y,
  matrixWidth,
}: {
  runs: ComparedRuns;
  compact?: boolean;
  x: number;
  y: number;
  matrixWidth: number;
}) {
  const words = useSession().words.value;
  const texts = useTexts();
  const { now, old, full, rows } = runs;
  const isPair = (place: { now: number; old: number }) => place.now >= 0 && place.old >= 0;
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

/** Returns true if no weight of the head differs visibly between the two runs. */
const areEqual = (now: Side, old: Side) =>
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
  const theme: Theme = session.theme.value;
  const [box, canvas] = [useRef(null), useRef(null as HTMLCanvasElement | null)];
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
