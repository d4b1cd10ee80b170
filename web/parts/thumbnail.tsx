// A head as a small picture of its weights, with its role or the result of its ablation below. Arrow keys choose the
// next head.

import type { TargetedKeyboardEvent } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { paintWeights } from '../drawing/paintWeights.ts';
import type { Run } from '../drawing/types.ts';
import { weightsOf } from '../model/derivation.ts';
import { isOff, placeOfLayer, shownPart } from '../model/modelEdits.ts';
import { degrees, signed } from '../model/numbers.ts';
import { findsNothing } from '../model/roles.ts';
import { costsOf } from '../model/storySteps.ts';
import { isEmpty } from '../model/viewRules.ts';
import { useSession } from '../store/context.ts';
import type { Session } from '../store/session.ts';
import { roleName, shownRole } from '../store/shownRoles.ts';
import { PALETTE, type Theme } from '../ui/palette.ts';
import { px } from '../ui/px.ts';
import { pointsOf } from './ablation.tsx';
import { useColours } from './useColours.ts';

export function Thumbnail({
  layer,
  head,
  size,
  left,
  top,
  across,
  down,
  named,
  hasRoomForName = named,
}: {
  layer: number;
  head: number;
  /** size of the square into which the picture fits, in CSS pixels */
  size: number;
  left: number;
  top: number;
  across: number;
  /** distance from one row to the next */
  down: number;
  /** true if the row has room for names */
  named: boolean;
  /** false if the name would overlap another name */
  hasRoomForName?: boolean;
}) {
  const session = useSession();
  const words = session.words.value;
  const now = session.state.value;
  // While the page waits for another run, the frame stays at the head of the shown picture.
  const state = session.shownState.value;
  const role = shownRole(session, layer, head);
  const isChosen = state.layer === layer && state.head === head;
  const isNext = state !== now && now.layer === layer && now.head === head && !isChosen;
  const points = usePoints()?.[`${layer}.${head}`];
  const isAngle = state.panel !== 'story' && session.ablation.value?.measure === 'angle';
  const isUnmatched = points === undefined && findsNothing(role, session.run.value);
  const off = isOff(state, placeOfLayer(session, layer), head);
  const canvas = useThumbnailCanvas(layer, head, size);
  const name = words.headName(layer, head);
  const label = [
    name,
    role && (isUnmatched ? words.usually(roleName(session, role)) : roleName(session, role)),
    off && words.isOff,
    points !== undefined && (isAngle ? words.ablation.turnsBy(degrees(points)) : words.story.points(points)),
  ];
  return (
    <button
      type="button"
      role="radio"
      class={`thumbnail ${off ? 'off' : ''} ${named ? 'named' : ''} ${isNext ? 'next' : ''}`}
      data-head={`${layer}.${head}`}
      aria-checked={isChosen}
      tabIndex={isChosen ? 0 : -1}
      aria-label={label.filter(Boolean).join(', ')}
      title={name}
      style={{ ...px({ left, top, '--size': size, '--across': across, '--down': down }), '--layer': String(layer) }}
      onClick={() => session.update({ layer, head })}
    >
      <span class="frame">
        <canvas ref={canvas} />
        {off && (
          <svg class="slash" viewBox="0 0 10 10" aria-hidden="true">
            <path d="M0 10L10 0" />
          </svg>
        )}
      </span>
      {(points !== undefined || (named && hasRoomForName && role && (role !== 'nearby' || isChosen))) && (
        <span class={`role-name ${isChosen ? 'chosen' : ''} ${isUnmatched ? 'idle' : ''}`}>
          {points === undefined ? (
            role && roleName(session, role)
          ) : (
            <span title={isAngle ? words.ablation.turns : words.story.cost}>
              {isAngle ? degrees(points) : signed(points, 0)}
            </span>
          )}
        </span>
      )}
    </button>
  );
}

/** Returns the ref of a canvas with the weights of a head, or for a large run with pooled weights. */
function useThumbnailCanvas(layer: number, head: number, size: number) {
  const session = useSession();
  const run: Run | null = session.run.value;
  const theme: Theme = session.theme.value;
  const canvas = useRef(null as HTMLCanvasElement | null);
  const ramp = useColours({ layer, head });
  useEffect(() => {
    const element = canvas.current;
    if (!element) return;
    const pooled = session.pooled.value[`${layer}.${head}`];
    const weights = run && !isEmpty(run) ? weightsOf(run, layer, head) : null;
    const paint = (data: Float32Array, rows: number, columns: number) =>
      paintWeights(element, data, rows, columns, size, !run?.about.causal, ramp, PALETTE[theme]);
    if (run && weights) paint(weights, run.T, run.S);
    else if (run && !isEmpty(run) && pooled) paint(pooled.data, pooled.rows, pooled.columns);
    // A picture of an earlier model or text is cleared.
    else element.getContext('2d')?.clearRect(0, 0, element.width, element.height);
  }, [run?.weights, run?.large && session.pooled.value[`${layer}.${head}`], theme, size, session.state.value.colours]);
  return canvas;
}

/** Returns each ablation's effect by 'layer.head', in percentage points or degrees; in the story, so far. */
function usePoints(): Record<string, number> | null | undefined {
  const session = useSession();
  const { panel, step } = session.state.value;
  return panel === 'story'
    ? costsOf(step, session.storyLog.value)
    : pointsOf(session.ablation.value, shownPart(session.about.value, session.state.value));
}

/** The number of layers, and of positions in the row, by which an arrow key moves. */
const ARROW_STEPS: Record<string, [layers: number, places: number]> = {
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
  ArrowUp: [1, 0],
  ArrowDown: [-1, 0],
};

/** Chooses the neighbouring head for an arrow key of the thumbnails. `order`: each layer's heads in their order. */
export function walkHeads(
  event: TargetedKeyboardEvent<HTMLElement>,
  session: Session,
  { layers, heads }: { layers: number; heads: number },
  order: number[][] | null = null,
) {
  const step = ARROW_STEPS[event.key];
  if (!step) return;
  event.preventDefault();
  event.stopPropagation();
  const state = session.state.value;
  const group = event.currentTarget;
  const layer = Math.min(Math.max(state.layer + step[0], 0), layers - 1);
  const place = (order?.[state.layer].indexOf(state.head) ?? state.head) + step[1];
  const within = Math.min(Math.max(place, 0), heads - 1);
  const head = order?.[layer][within] ?? within;
  session.update({ layer, head }, 'head');
  // In flow, a head in the rest is drawn only after it has been chosen, so the focus moves in the next frame.
  requestAnimationFrame(() => {
    const next: HTMLElement | null = group.querySelector(`[data-head='${layer}.${head}']`);
    next?.focus();
  });
}
