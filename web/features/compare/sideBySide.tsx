// Two runs side by side, or one below the other. Both tokens of a pair are in the same row and column of the two
// pictures.

import { type RunPair, type Side, weightIn } from '../../drawing/tokenPairs.ts';
import type { ViewProps } from '../../drawing/types.ts';
import { runOf } from '../../model/runInput.ts';
import { shown } from '../../model/tokens.ts';
import { isOpen } from '../../model/training/settings.ts';
import { useSession } from '../../store/context.ts';
import { px } from '../../ui/px.ts';
import { Matrix } from './alignedHeatmap.tsx';
import { type AlignedPlan, BETWEEN, planOf } from './alignedLayout.ts';
import { type CellPair, useTexts } from './twoRuns.ts';

/** A heading is above its picture if more pixels than this are free there. */
const HEADING_HEIGHT = 130;
/** Extra pixels that a bold label needs: its larger width and its distance from the cell. */
const BOLD_MARGIN = 10;

/** The top left corners of the two pictures' matrices. */
export type Origin = { x: number; y: number };

export function SideBySide({ runs, read, room }: { runs: RunPair; read: CellPair | null; room: ViewProps }) {
  const session = useSession();
  const { now, old, full } = runs;
  // While no run is pinned the picture has the whole view, and the instructions are in its empty half.
  const isSingle = !old && !session.state.value.pinned && !full && !room.free;
  const plan = planOf(room, { ...runs, count: isSingle ? 1 : 2 });
  const { height, hasRoomAbove, first, second } = layoutOf(plan, room);
  // A model in training is on the right, and its state before the training on the left.
  const isLater = isOpen(session.state.value);
  const [nowAt, oldAt] = isLater ? [second, first] : [first, second];
  const secondRows = !plan.down && !plan.hasOwnRows;
  const { top, matrixWidth, matrixHeight } = plan;
  const heading = { plan, full, isAbove: hasRoomAbove };
  return (
    <div class="picture" style={px({ height })}>
      <NowMatrix runs={runs} read={read} plan={plan} origin={nowAt} hideRows={isLater ? secondRows : undefined} />
      {!isSingle && <Heading {...heading} side={now} isPinned={false} origin={nowAt} />}
      {isSingle ? (
        <Instructions
          style={px({ '--x': first.x, '--y': first.y, '--top': top, '--matrix-width': matrixWidth })}
          isInCorner
        />
      ) : old ? (
        <>
          <PinnedMatrix {...{ runs, old, read, plan }} origin={oldAt} hideRows={isLater ? undefined : secondRows} />
          <Heading {...heading} side={old} isPinned origin={oldAt} />
        </>
      ) : (
        <Instructions style={px({ left: second.x, top: second.y, width: matrixWidth, height: matrixHeight })} />
      )}
    </div>
  );
}

/** Returns the positions of the pictures: side by side they end at the bottom of the view, otherwise they fill it. */
function layoutOf({ down, left, right, top, overhang, matrixWidth, matrixHeight }: AlignedPlan, room: ViewProps) {
  const needed = down ? 2 * (top + matrixHeight) + BETWEEN : top + matrixHeight;
  const height = room.free ? needed : room.height;
  const y = height - needed + top;
  const labelsEnd = overhang > 0 ? overhang + BOLD_MARGIN : 0;
  const second = down
    ? { x: left, y: y + matrixHeight + BETWEEN + top }
    : { x: Math.max(left + matrixWidth + right, Math.floor(room.width - matrixWidth - labelsEnd)), y };
  return { height, hasRoomAbove: height - needed > HEADING_HEIGHT, first: { x: left, y }, second };
}

export type Place = { read: CellPair | null; plan: AlignedPlan; origin: Origin; hideRows: boolean | undefined };

function NowMatrix({ runs, read, plan, origin, hideRows }: Place & { runs: RunPair }) {
  const words = useSession().words.value;
  const { now, full, rows, columns } = runs;
  return (
    <Matrix
      {...{ ...origin, runs, plan, rows, columns, full }}
      names={now.names}
      keys={now.keys}
      label={useTexts().nowIn(words.headInText(now.run.layer, now.run.head))}
      read={read?.now}
      value={(t, s) => weightIn(now, full, { t, s })}
      rowOf={rows.rowNow}
      columnOf={columns.rowNow}
      hideRows={hideRows}
      pairOf={(cell) => ({ now: cell, old: { t: rows.oldOf(cell.t), s: columns.oldOf(cell.s) } })}
    />
  );
}

function PinnedMatrix({ runs, old, read, plan, origin, hideRows }: Place & { runs: RunPair; old: Side }) {
  const words = useSession().words.value;
  const { now, full, rows, columns } = runs;
  return (
    <Matrix
      {...{ ...origin, runs, plan, rows, columns, full }}
      names={old.names}
      keys={old.keys}
      label={useTexts().oldIn(words.headInText(now.run.layer, now.run.head))}
      read={read?.old}
      value={(t, s) => weightIn(old, full, { t, s })}
      rowOf={rows.rowOld}
      columnOf={columns.rowOld}
      hideRows={hideRows}
      pairOf={(cell) => ({ now: { t: rows.nowOf(cell.t), s: columns.nowOf(cell.s) }, old: cell })}
    />
  );
}

/** Instructions for pinning a run. They are empty while the pinned run is computed. */
function Instructions({ style, isInCorner = false }: { style: ReturnType<typeof px>; isInCorner?: boolean }) {
  const session = useSession();
  const texts = useTexts();
  if (session.state.value.pinned) return <p class="nothing-pinned" style={style} />;
  return (
    <div class={`nothing-pinned ${isInCorner ? 'in-corner' : ''}`} style={style}>
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

/** The name of a run, its text and its next token, above the picture or in its empty half. */
function Heading({
  side,
  isPinned,
  plan,
  origin: { x, y },
  full,
  isAbove,
}: {
  side: Side;
  isPinned: boolean;
  plan: AlignedPlan;
  origin: Origin;
  full: boolean;
  isAbove: boolean;
}) {
  const session = useSession();
  const words = session.words.value;
  const texts = useTexts();
  const state = session.state.value;
  const progress = isOpen(state) ? session.training.progress.value : null;
  const { name, text } = progress
    ? texts.inTraining(isPinned, progress.at ?? progress.steps)
    : isPinned
      ? { name: texts.old, text: state.pinned?.text ?? '' }
      : { name: texts.now, text: state.text };
  const guess = progress ? undefined : side.run.top?.[0];
  const kind = isAbove ? 'over' : full ? 'over short' : 'inside';
  const geometry = { '--x': x, '--y': y, '--top': plan.top, '--matrix-width': plan.matrixWidth };
  return (
    <div class="heading-area" style={px(geometry)}>
      <div class={`heading ${kind}`}>
        <h2>{name}</h2>
        {text && <p lang={progress ? undefined : 'en'}>{text}</p>}
        {guess && (
          <p class="guesses">
            {texts.guesses} <i>{shown(guess.text).trim() || '␣'}</i> <b>{words.percent(guess.now)}</b>
          </p>
        )}
      </div>
    </div>
  );
}
