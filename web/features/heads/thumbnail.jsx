// A head as a small picture of its weights, with its role or the result of its ablation below. Arrow keys choose the
// next head.

import { useEffect, useRef } from 'preact/hooks';
import { degrees, signed } from '../../texts/numbers.js';
import { useSession } from '../../ui/context.js';
import { PALETTE } from '../../ui/palette.js';
import { px } from '../../ui/px.js';
import { paintWeights } from '../heatmap/paintWeights.js';
import { useColours } from '../heatmap/useColours.js';
import { weightsOf } from '../reading/derivation.js';
import { shownRole } from '../story/shownRoles.js';
import { costsOf } from '../story/steps.js';
import { isEmpty } from '../viewRules.js';
import { isOff, placeOfLayer, shownPart } from '../whatif/modelEdits.js';
import { pointsOf } from './ablation.jsx';
import { findsNothing, roleName } from './roles.js';

/** @import { TargetedKeyboardEvent } from 'preact' */
/** @import { Session } from '../../store/session.js' */
/** @import { Theme } from '../../ui/palette.js' */
/** @import { Run } from '../heatmap/types.js' */

/**
 * @param {object} props
 * @param {number} props.layer
 * @param {number} props.head
 * @param {number} props.size size of the square into which the picture fits, in CSS pixels
 * @param {number} props.left
 * @param {number} props.top
 * @param {number} props.across distance from one thumbnail to the next
 * @param {number} props.down distance from one row to the next
 * @param {boolean} props.named true if the row has room for names
 * @param {boolean} [props.hasRoomForName] false if the name would overlap another name
 */
export function Thumbnail({ layer, head, size, left, top, across, down, named, hasRoomForName = named }) {
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

/**
 * Returns the ref of a canvas with the weights of a head, or for a large run with pooled weights.
 * @param {number} layer @param {number} head @param {number} size
 */
function useThumbnailCanvas(layer, head, size) {
  const session = useSession();
  /** @type {Run | null} */
  const run = session.run.value;
  /** @type {Theme} */
  const theme = session.theme.value;
  const canvas = useRef(/** @type {HTMLCanvasElement | null} */ (null));
  const ramp = useColours({ layer, head });
  useEffect(() => {
    const element = canvas.current;
    if (!element) return;
    const pooled = session.pooled.value[`${layer}.${head}`];
    const weights = run && !isEmpty(run) ? weightsOf(run, layer, head) : null;
    const paint = (/** @type {Float32Array} */ data, /** @type {number} */ rows, /** @type {number} */ columns) =>
      paintWeights(element, data, rows, columns, size, !run?.about.causal, ramp, PALETTE[theme]);
    if (run && weights) paint(weights, run.T, run.S);
    else if (run && !isEmpty(run) && pooled) paint(pooled.data, pooled.rows, pooled.columns);
    // A picture of an earlier model or text is cleared.
    else element.getContext('2d')?.clearRect(0, 0, element.width, element.height);
  }, [run?.weights, run?.large && session.pooled.value[`${layer}.${head}`], theme, size, session.state.value.colours]);
  return canvas;
}

/**
 * Returns, by 'layer.head', the effect of each head's ablation in percentage points or degrees. In the story it covers
 * the heads switched off so far.
 * @returns {Record<string, number> | null | undefined}
 */
function usePoints() {
  const session = useSession();
  const { panel, step } = session.state.value;
  return panel === 'story'
    ? costsOf(step, session.storyLog.value)
    : pointsOf(session.ablation.value, shownPart(session.about.value, session.state.value));
}

/**
 * The number of layers, and of positions in the row, by which an arrow key moves.
 * @type {Record<string, [layers: number, places: number]>}
 */
const ARROW_STEPS = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [1, 0], ArrowDown: [-1, 0] };

/**
 * Handles arrow keys, which choose the head to the left, to the right, above or below.
 * @param {TargetedKeyboardEvent<HTMLElement>} event event of the group of thumbnails
 * @param {Session} session
 * @param {{ layers: number, heads: number }} size
 * @param {number[][] | null} order the heads of each layer in their order
 */
export function walkHeads(event, session, { layers, heads }, order = null) {
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
    /** @type {HTMLElement | null} */
    const next = group.querySelector(`[data-head='${layer}.${head}']`);
    next?.focus();
  });
}
