// The instrument in windows less than 900 px wide, with its parts below each other.

import { useRef } from 'preact/hooks';
import { Closing, FirstPanel } from '../features/first/feature.ts';
import { Model } from '../features/heads/feature.ts';
import { Prediction } from '../features/prediction/feature.ts';
import { Lesson, ShortCharts } from '../features/train/feature.ts';
import { gapIn, shownParts } from '../model/storySteps.ts';
import { isOpen, OWN_TEXT } from '../model/training/settings.ts';
import type { Run } from '../model/types.ts';
import { STREAM_WIDTH } from '../parts/headLayout.ts';
import { usePicture } from '../parts/usePicture.ts';
import { useSession } from '../store/context.ts';
import type { Session } from '../store/session.ts';
import { gridOf, patchesOf, type Screen } from '../ui/layout.ts';
import { useLengths } from '../ui/lengths.ts';
import { useColumns, useSize } from '../ui/useSize.ts';
import { Sheet } from './bottomSheet.tsx';
import { Instrument, isGrown, LargePicture } from './instrument.tsx';
import { Legend } from './legend.tsx';
import { panelFor } from './panels.ts';
import { viewOf } from './views.ts';
export type Props = { screen: Screen };

/** Maximum height of the square of cells on a phone, as a share of the window's height. */
const MAX_HEIGHT = 0.38;
/** Minimum width of a picture that has room for scores. */
const BARE = 340;
/** Maximum heads of a layer that fit next to the predictions on a phone. */
const MAX_NAMED = 8;

export const Stacked = (props: Props) => (props.screen.kind === 'phone' ? <Phone {...props} /> : <Tablet {...props} />);

/** Renders the picture and its legend. The style sheet determines their width; this function computes the height. */
function usePart({ kind, size }: Screen) {
  const session = useSession();
  const [state, run] = [session.state.value, session.run.value];
  const area = useRef(null);
  const { width } = useSize(area);
  const lengths = useLengths();
  const { Component: View } = viewOf(state.view, run);
  const grows = isGrown(state, run);
  const [phone, low] = [kind === 'phone', size === 'low'];
  const inPatches = isInPatches(session);
  // During training the legend must be visible too.
  const below = lengths.whatIf + (low && isOpen(state) ? lengths.legend : 0);
  const inSight = innerHeight - lengths.header - lengths.sentence - below;
  // On a phone the picture is as wide as the screen, unless it would be so high that the model below is out of sight.
  const across = { width, height: low ? inSight : phone ? 1.25 * width : width, most: lengths.middle };
  const tallest = phone && !low ? Math.max(MAX_HEIGHT * innerHeight, 200) : Infinity;
  const matrix = usePicture({ ...across, tallest });
  let height = matrix ? matrix.top + matrix.matrixHeight + matrix.foot : Math.max(width - 40, 0);
  if (grows) height = low ? Math.max(inSight, 300) : Math.min(Math.max(1.25 * width, 420), 620);
  if (inPatches && low) height = inSight;
  else if (inPatches) {
    // The picture and its copy, which shows the weights of the patches, must be visible at the same time.
    const beside = phone ? lengths.sheet : lengths.sheet + lengths.legend;
    height = patchesOf({ width, height: Math.max(inSight - beside, 380), ...gridOf(run as Run) }, lengths).height;
  }
  return {
    grows,
    height,
    part: (
      <div class="middle" ref={area}>
        <LargePicture>
          {width > 0 && <View {...across} height={height} compact={phone || width < BARE} free />}
        </LargePicture>
        <Legend left={grows || inPatches ? 0 : (matrix?.x ?? 0)} />
      </div>
    ),
  };
}

const isInPatches = ({ run, state }: Session) => Boolean(run.value?.image) && state.value.view === 'heatmap';

function Tablet({ screen }: Props) {
  const session = useSession();
  const [state, run] = [session.state.value, session.run.value];
  const training = isOpen(state);
  const Panel = state.first === null ? panelFor(state, run) : FirstPanel;
  const area = useRef(null);
  const [model = 0] = useColumns(area).columns;
  const { grows, height, part } = usePart(screen);
  return (
    <Instrument look={grows ? 'grown' : ''} area={area}>
      {grows ? null : training ? (
        <TrainedModel width={model} height={height} />
      ) : (
        <Model width={model} height={height} />
      )}
      {part}
      {!training && (
        <div>
          <Prediction writes />
          <Closing />
        </div>
      )}
      {training ? (
        <div class="train-right">
          <Panel />
        </div>
      ) : (
        <Panel compact />
      )}
    </Instrument>
  );
}

function Phone({ screen }: Props) {
  const session = useSession();
  const [state, run] = [session.state.value, session.run.value];
  const training = isOpen(state);
  const story = state.panel === 'story';
  const circuit = state.view === 'flow' && state.circuit !== null;
  // True if an existing model is trained further, whose changes the panel shows.
  const tuned = training && state.training.task === OWN_TEXT;
  const Panel = state.first === null ? panelFor(state, run) : FirstPanel;
  // If the phone is held sideways, the picture is on the left, and the model, or the story's text, on the right.
  const halved = screen.size === 'low' && !isGrown(state, run) && !isInPatches(session);
  const { grows, part } = usePart(screen);
  const halves = useRef(null);
  const { tiles, ...size } = modelSize(session, useSize(halves).width);
  return (
    <Instrument look={`${grows ? 'grown' : ''} ${halved ? '' : 'across'}`}>
      {part}
      <div class={`halves ${tiles ? 'tiled' : ''}`} ref={halves}>
        {!grows && <Model {...size} names={false} />}
        {training ? <ShortCharts /> : <Prediction short writes />}
      </div>
      {story || circuit || tuned || state.first !== null || viewOf(state.view, run).titled ? (
        <Panel phone />
      ) : (
        !training && <Sheet />
      )}
    </Instrument>
  );
}

/** Returns the size of the model on a phone: many heads as tiles over the whole width, at most `room` wide. */
function modelSize(session: Session, room: number) {
  const { panel, step } = session.state.value;
  const { layers = 5, heads = 4 } = session.about.value ?? {};
  // The heads of a single layer are in two rows.
  const rows = layers === 1 && heads > 4 ? 2 : layers;
  const tiles = heads > MAX_NAMED;
  const story = panel === 'story';
  // A step of the story without predictions has room for a larger model, and for texts under the heads.
  const alone = story && !shownParts(step, session.storyLog.value).includes('prediction');
  // After an ablation, the change without a head is written under the thumbnail of that head.
  const rowHeight = story || session.ablation.value ? 56 : 39;
  return {
    tiles,
    width: alone || tiles ? room : Math.min(STREAM_WIDTH + 39 * heads, 0.56 * room),
    height: tiles
      ? Math.ceil(((room - STREAM_WIDTH) / heads + 2) * rows)
      : rowHeight * rows + gapIn(session.state.value),
  };
}

/** The model below the lesson. Both together are as high as the picture. */
function TrainedModel({ width, height }: { width: number; height: number }) {
  const above = useRef(null);
  const used = useSize(above);
  return (
    <div>
      <div ref={above}>
        <Lesson compact />
      </div>
      <Model width={width} height={Math.max(height - used.height, 0)} />
    </div>
  );
}
