// The instrument from 900 px on: three columns that fill the window.

import { useRef } from 'preact/hooks';
import { Model } from '../features/heads/headGrid.jsx';
import { Legend, MIN_LEGEND_WIDTH } from '../features/heatmap/legend.jsx';
import { usePicture } from '../features/heatmap/usePicture.js';
import { panelFor } from '../features/panels.js';
import { Prediction } from '../features/prediction/prediction.jsx';
import { isOpen } from '../features/train/settings.js';
import { viewOf } from '../features/views.js';
import { useSession } from '../ui/context.js';
import { later } from '../ui/lazy.jsx';
import { useSize } from '../ui/useSize.js';
import { Beam } from './beam.jsx';
import { Instrument, isGrown, LEGEND, MAX_LETTERS } from './instrument.jsx';

/** @import { Screen } from '../ui/layout.js' */

const Lesson = later(() => import('../features/train/train.jsx'), 'Lesson');

/** Space between the model and a text above it. */
const BELOW_TEXT = 8;
/** Minimum height of the columns for a reading above its pictures. */
const MIN_SPREAD = 560;
/** Font size of labels and buttons, as the style sheet's --s. @type {Record<string, number>} */
const FONT_SIZE = { wide: 13.5, desk: 12, huge: 15.5, narrow: 12 };

/** @param {{ screen: Screen }} props */
export function Columns({ screen }) {
  const session = useSession();
  const [area, strip] = [useRef(null), useRef(null)];
  const { width, height } = useSize(area);
  const stripSize = useSize(strip);
  const [state, run] = [session.state.value, session.run.value];
  const training = isOpen(state);
  const room = {
    width: Math.max(width - screen.model - screen.reading - 2 * screen.gap, 0),
    height: Math.max(height - LEGEND, 0),
    most: MAX_LETTERS[screen.size ?? screen.kind],
  };
  const picture = usePicture(room);
  const { Component: View, spreads, single } = viewOf(state.view, run);
  const grows = isGrown(state, run);
  const spread = height >= MIN_SPREAD && !training && spreads?.(state);
  const Panel = panelFor(state, run);
  const alone = picture && single?.(state);
  // The names of the views are at the same place in every view.
  const ends = picture && (alone || (grows && (picture.matrixWidth ?? 0) >= MIN_LEGEND_WIDTH));
  const beyond = ends ? Math.max(room.width - picture.x - picture.matrixWidth, 0) : 0;
  if (grows) room.width += screen.model + screen.gap;
  if (spread) {
    room.width += screen.reading + screen.gap;
    room.height = Math.max(room.height - stripSize.height, 0);
  }
  return (
    <Instrument look={`${grows ? 'grown' : ''} ${spread ? 'spread' : ''}`} area={area}>
      {!grows && <LeftColumn screen={screen} height={height} />}
      <div class="middle">
        <View {...room} compact={height < 560} />
        <Legend width={room.width} left={alone ? picture.x : 0} right={beyond} />
      </div>
      <div class="right" ref={strip}>
        <Panel compact={height < 620} spread={spread} />
      </div>
      {!grows && <Beam />}
    </Instrument>
  );
}

/** The model below the guesses, or below the lesson. @param {{ screen: Screen, height: number }} props */
function LeftColumn({ screen, height }) {
  const session = useSession();
  const above = useRef(null);
  const used = useSize(above);
  const training = isOpen(session.state.value);
  const guesses = !training && session.about.value?.predicts;
  return (
    <div class="left">
      <div ref={above}>{training ? <Lesson compact={height < 480} /> : <Prediction />}</div>
      <Model
        width={screen.model}
        height={Math.max(height - LEGEND - used.height - (guesses ? 0 : BELOW_TEXT), 0)}
        letter={FONT_SIZE[screen.size ?? screen.kind]}
      />
    </div>
  );
}
