// The instrument in windows at least 900 px wide: three columns that fill the window.

import { useRef } from 'preact/hooks';
import { Closing, FirstPanel } from '../features/first/feature.ts';
import { Model } from '../features/heads/feature.ts';
import { Prediction } from '../features/prediction/feature.ts';
import { Inside } from '../features/story/feature.ts';
import { Lesson } from '../features/train/feature.ts';
import { hasInside } from '../model/storySteps.ts';
import { isOpen } from '../model/training/settings.ts';
import { usePicture } from '../parts/usePicture.ts';
import { useSession } from '../store/context.ts';
import { useLengths } from '../ui/lengths.ts';
import { useColumns, useSize } from '../ui/useSize.ts';
import { Beam } from './beam.tsx';
import { Instrument, isGrown, LargePicture } from './instrument.tsx';
import { Legend } from './legend.tsx';
import { panelFor } from './panels.ts';
import { viewOf } from './views.ts';

/** Minimum heights of columns in which the view, the panel and the lesson are not shortened. */
const [LOW_VIEW, LOW_PANEL, LOW_LESSON] = [560, 620, 480];

export function Columns() {
  const session = useSession();
  const [area, view] = [useRef(null), useRef(null)];
  const { height } = useSize(area);
  const { columns, gap } = useColumns(area);
  const size = useSize(view);
  const [state, run] = [session.state.value, session.run.value];
  const training = isOpen(state);
  const { middle: most, legend } = useLengths();
  const [model = 0, middle = 0] = columns;
  const picture = usePicture({ width: Math.floor(middle), height: size.height, most });
  const { Component: View, spreads, single } = viewOf(state.view, run);
  const grows = isGrown(state, run);
  const spread = height >= LOW_VIEW && !training && spreads?.(state);
  const Panel = state.first === null ? panelFor(state, run) : FirstPanel;
  const alone = picture && single?.(state);
  // The margin keeps the names of the views at one position, whichever view is shown.
  const right = picture && (alone || grows) ? Math.max(middle - picture.x - picture.matrixWidth, 0) : 0;
  return (
    <Instrument look={`${grows ? 'grown' : ''} ${spread ? 'spread' : ''}`} area={area}>
      {!grows && hasInside(state) ? (
        <div class="left">
          <Inside />
        </div>
      ) : null}
      {!grows && !hasInside(state) && (
        <LeftColumn width={Math.floor(model)} height={Math.max(height - legend, 0)} isLow={height < LOW_LESSON} />
      )}
      <div class="middle">
        <LargePicture area={view}>
          {size.height > 0 && <View {...size} most={most} compact={height < LOW_VIEW} />}
        </LargePicture>
        <Legend
          left={alone && picture ? picture.x : 0}
          right={right}
          before={picture ? picture.x + (grows ? model + gap : 0) : 0}
        />
      </div>
      <div class={`right ${session.closing.value ? 'closes' : ''}`}>
        <div class="panel-area">
          <Panel compact={height < LOW_PANEL} spread={spread} wide />
        </div>
        <Closing />
      </div>
      {!grows && <Beam />}
    </Instrument>
  );
}

/** The model below the predictions, or below the lesson of a training. `height`: of the columns without the legend. */
function LeftColumn({ width, height, isLow }: { width: number; height: number; isLow: boolean }) {
  const session = useSession();
  const above = useRef(null);
  const used = useSize(above);
  const { small } = useLengths();
  const training = isOpen(session.state.value);
  return (
    <div class="left">
      <div class={training || !session.about.value?.predicts ? 'text-above' : ''} ref={above}>
        {training ? <Lesson compact={isLow} /> : <Prediction />}
      </div>
      <Model width={width} height={Math.max(height - used.height, 0)} letter={small} />
    </div>
  );
}
