// The screen: the same parts in an order that depends on the width.

import { useEffect, useRef, useState } from 'preact/hooks';
import { Header } from '../features/header/header.jsx';
import { Model, STREAM } from '../features/heads/headGrid.jsx';
import { usePicture } from '../features/heatmap/heatmap.jsx';
import { LEAST, Legend } from '../features/heatmap/legend.jsx';
import { useDrop } from '../features/open/open.jsx';
import { panelFor } from '../features/panels.js';
import { Prediction } from '../features/prediction/prediction.jsx';
import { Sentence } from '../features/prompt/prompt.jsx';
import { Sheet } from '../features/reading/bottomSheet.jsx';
import { STEPS } from '../features/story/steps.js';
import { isOpen } from '../features/train/lessons.js';
import { viewOf } from '../features/views.js';
import { WhatIf } from '../features/whatif/whatif.jsx';
import { reducedMotion, useSession, useSize } from '../ui/context.js';
import { useKeptFocus } from '../ui/focus.js';
import { gridOf, LOW, patchesOf, screenOf } from '../ui/layout.js';
import { later } from '../ui/lazy.jsx';

const ofTraining = (name) => later(() => import('../features/train/train.jsx'), name);
const [Film, Lesson, Probe, ShortCharts] = ['Film', 'Lesson', 'Probe', 'ShortCharts'].map(ofTraining);
const Ended = later(() => import('../features/crash/workerEnded.jsx'), 'Ended');
const Media = later(() => import('../features/print/print.jsx'), 'Media');
const [TrainBar, TrainNote] = ['TrainBar', 'TrainNote'].map(ofTraining);

/** What stands under the picture, and between the model and a text above it. */
const LEGEND = 66;
const BELOW_TEXT = 8;
/** Above and below a picture in patches on a phone: header, text; the line of the sheet, what if. */
const AROUND_PATCHES = 54 + 44 + 52 + 58;
/** In a narrower what-if line of a tablet not every word has room; in a narrower picture no score has. */
const [SCANT, BARE] = [740, 340];
/** Letters of tokens at most, as the style sheet's --m. */
const MOST = { wide: 17, desk: 15, tablet: 15, phone: 14, huge: 20, narrow: 15 };

/** As high as the columns are at least where a reading stands above its pictures. */
const SPREAD = 560;

/** Of the window's height: the square on a phone. */
const TALLEST = 0.38;
/** On a phone held sideways: header, text and the what-if line; and what stands on the left, in the story too. */
const AROUND_LOW = 44 + 44 + 46 + 4;
const SHARE_LOW = 0.43;
const SHARE_STORY = 0.5;
/** Heads of a layer that fit beside the guesses on a phone. */
const MOST_NAMED = 8;

/** Letters of what one uses, as the style sheet's --s. */
const LETTER = { wide: 13.5, desk: 12, huge: 15.5, narrow: 12 };

/** height: of the page in pixels, where it does not fill a window. */
export function App({ host, height = 0, controls = true }) {
  const session = useSession();
  const words = session.words.value;
  const { width } = useSize(host);
  const low = useLow();
  // In another page it does not fill the window.
  const screen = screenOf(width || 1, low && height === 0);
  useKeys(host);
  useKeptFocus(host);
  const used = useUsed();
  const over = useDrop(host);
  const style = {
    '--margin': `${screen.margin}px`,
    '--gap': `${screen.gap}px`,
    '--model': `${screen.model}px`,
    '--reading': `${screen.reading}px`,
    // A hundredth of the width, which is not the window's in another page.
    '--vw': `${(width || 1) / 100}px`,
    ...(height > 0 && { '--height': `${height}px` }),
  };
  const failure = session.failure.value;
  const training = isOpen(session.state.value);
  const grows = isGrown(session.state.value, session.run.value);
  return (
    <div
      class={`page ${screen.kind} ${screen.size ?? ''} ${training ? 'training' : ''}`}
      style={style}
      data-busy={session.busy.value}
      data-shows={session.state.value.panel === 'story' ? STEPS[session.state.value.step].shows.join(' ') : undefined}
    >
      <button type="button" class="skip" onClick={() => host.shadowRoot.querySelector('#picture')?.focus()}>
        {words.skip}
      </button>
      {controls && <Header phone={screen.kind === 'phone' && screen.size !== 'low'} />}
      {training ? <Probe /> : controls && <Sentence small={screen.reading === 0} />}
      {training && <TrainNote />}
      {failure !== null && (
        <p class="failure" role="alert">
          {words.failed(failure)}{' '}
          <button type="button" class="word strong" onClick={session.retry}>
            {words.again}
          </button>
        </p>
      )}
      {session.refused.value && <Refused {...session.refused.value} />}
      {session.ended.value && <Ended />}
      {width > 0 &&
        (screen.reading > 0 ? (
          <Columns key={grows} screen={screen} />
        ) : (
          <Stacked key={grows} screen={screen} width={width} />
        ))}
      {used && <Media />}
      {training && <Film kind={screen.kind} />}
      {training ? (
        <TrainBar kind={screen.size === 'narrow' ? 'tablet' : screen.kind} />
      ) : (
        controls && (
          <WhatIf
            kind={screen.size === 'narrow' ? (width < 1000 ? 'tight' : 'narrow') : screen.kind}
            scant={screen.kind === 'tablet' && width < SCANT}
          />
        )
      )}
      {over && <div class="dropping">{words.open.dropHere}</div>}
      <div class="spoken" role="status" aria-live="polite">
        {session.announcement.value}
      </div>
    </div>
  );
}

/** Another source could not be shown: what was shown before still is. */
function Refused({ title, why }) {
  const session = useSession();
  const words = session.words.value;
  return (
    <p class="failure" role="alert">
      {words.refused(title, why)}{' '}
      <button type="button" class="word strong" onClick={() => session.dismissRefused()}>
        {words.close}
      </button>
    </p>
  );
}

/** Another page has a main part of its own. */
const mainOf = ({ embedded }) => (embedded ? 'section' : 'main');

/** Whether the view takes the model's place as well: not while one trains, when that is looked at. */
const isGrown = (state, run) => Boolean(viewOf(state.view, run).grows) && !isOpen(state);

/** From 900 px on: three columns that fill the window. */
function Columns({ screen }) {
  const session = useSession();
  const Main = mainOf(session);
  const area = useRef(null);
  const above = useRef(null);
  const { width, height } = useSize(area);
  const column = useRef(null);
  const taken = useSize(above);
  const strip = useSize(column);
  const training = isOpen(session.state.value);
  const kind = screen.size ?? screen.kind;
  const room = {
    width: Math.max(width - screen.model - screen.reading - 2 * screen.gap, 0),
    height: Math.max(height - LEGEND, 0),
    most: MOST[kind],
  };
  const picture = usePicture(room);
  const { Component: View, spreads, single } = viewOf(session.state.value.view, session.run.value);
  const grows = isGrown(session.state.value, session.run.value);
  const spread = height >= SPREAD && !training && spreads?.(session.state.value);
  const Panel = panelFor(session.state.value, session.run.value);
  const guesses = !training && session.about.value?.predicts;
  const alone = picture && single?.(session.state.value);
  // The words of the views stand at one place, whichever is chosen.
  const ends = picture && (alone || (grows && (picture.wide ?? 0) >= LEAST));
  const beyond = ends ? Math.max(room.width - picture.x - picture.wide, 0) : 0;
  if (grows) room.width += screen.model + screen.gap;
  if (spread) {
    room.width += screen.reading + screen.gap;
    room.height = Math.max(room.height - strip.height, 0);
  }
  return (
    <Main class={`instrument ${grows ? 'grown' : ''} ${spread ? 'spread' : ''}`} ref={area}>
      {!grows && (
        <div class="left">
          <div ref={above}>{training ? <Lesson compact={height < 480} /> : <Prediction />}</div>
          <Model
            width={screen.model}
            height={Math.max(height - LEGEND - taken.height - (guesses ? 0 : BELOW_TEXT), 0)}
            letter={LETTER[kind]}
          />
        </div>
      )}
      <div class="middle">
        <View {...room} compact={height < 560} />
        <Legend width={room.width} left={alone ? picture.x : 0} right={beyond} />
      </div>
      <div class="right" ref={column}>
        <Panel compact={height < 620} spread={spread} />
      </div>
      {!grows && <Beam />}
    </Main>
  );
}

/** A head that is chosen opens into the large picture, for a moment. */
function Beam() {
  const session = useSession();
  const { layer, head } = session.state.value;
  const drawing = useRef(/** @type {any} */ (null));
  const [path, setPath] = useState({ light: '', edges: '' });
  const first = useRef(true);
  useEffect(() => {
    if (first.current || reducedMotion()) {
      first.current = false;
      return;
    }
    const root = drawing.current.getRootNode();
    const [from, to, area] = [
      root.querySelector('.thumbnail[aria-checked=true] .frame'),
      root.querySelector('.picture .matrix'),
      drawing.current,
    ].map((element) => element?.getBoundingClientRect());
    if (!from || !to) return;
    const at = (x, y) => `${x - area.left} ${y - area.top}`;
    const upper = `M${at(from.right, from.top)}L${at(to.left, to.top)}`;
    const lower = `${at(to.left, to.bottom)}L${at(from.right, from.bottom)}`;
    setPath({ light: `${upper}L${lower}z`, edges: `${upper}M${lower}` });
  }, [layer, head]);
  return (
    <svg ref={drawing} key={path.light} class="beam" aria-hidden="true">
      <linearGradient id="light">
        <stop />
        <stop offset="1" stop-opacity="0.2" />
      </linearGradient>
      <path d={path.light} fill="url(#light)" />
      <path d={path.edges} class="edges" />
    </svg>
  );
}

/** Below 900 px: one under the other. */
function Stacked({ screen, width }) {
  const session = useSession();
  const Main = mainOf(session);
  const training = isOpen(session.state.value);
  const { Component: View } = viewOf(session.state.value.view, session.run.value);
  const grows = isGrown(session.state.value, session.run.value);
  const Panel = panelFor(session.state.value, session.run.value);
  const phone = screen.kind === 'phone';
  const low = screen.size === 'low';
  const run = session.run.value;
  const inPatches = run?.image && session.state.value.view === 'heatmap';
  const story = session.state.value.panel === 'story';
  const whole = width - 2 * screen.margin;
  // Held sideways, the picture stands on the left, and the model beside it; in the story the text does.
  const halved = low && !grows && !inPatches;
  const share = Math.round((story ? SHARE_STORY : SHARE_LOW) * (whole - screen.gap));
  const inside = !halved ? whole : story ? share : whole - share - screen.gap;
  const inSight = innerHeight - AROUND_LOW;
  const wide = halved ? share : phone || grows ? whole : whole - screen.model - screen.gap;
  // On a phone the picture is as wide as the screen, whatever stands above it, unless it would hide the model below.
  const across = { width: wide, height: low ? inSight : phone ? 1.25 * wide : wide, most: MOST[screen.kind] };
  const tall = usePicture({ ...across, tallest: phone && !low ? Math.max(TALLEST * innerHeight, 200) : Infinity });
  let height = tall ? tall.top + tall.side : wide - 40;
  if (grows) height = low ? Math.max(inSight, 300) : Math.min(Math.max(1.25 * wide, 420), 620);
  if (inPatches && low) height = inSight;
  else if (inPatches) {
    // Both parts are in sight at once.
    const most = Math.max(innerHeight - AROUND_PATCHES - (phone ? 0 : LEGEND), 380);
    height = patchesOf({ width: wide, height: most, ...gridOf(run) }).height;
  }
  const legend = <Legend width={wide} left={grows || inPatches ? 0 : (tall?.x ?? 0)} />;
  const picture = <View {...across} height={height} compact={phone || wide < BARE} free />;
  const heads = session.about.value?.heads ?? 4;
  const layers = session.about.value?.layers ?? 5;
  // The heads of a single layer stand in two rows.
  const rows = layers === 1 && heads > 4 ? 2 : layers;
  // A step of the story has room for a larger model, and for what stands under its heads.
  const { step } = session.state.value;
  const alone = story && !STEPS[step].shows.includes('prediction');
  // Many heads are tiles: they have the whole width, and what else there is stands below.
  const tiles = heads > MOST_NAMED;
  const model = {
    width: alone || tiles ? inside : Math.min(STREAM + 39 * heads, 0.56 * inside),
    // What is lost without a head stands under it.
    height: tiles
      ? Math.ceil(((inside - STREAM) / heads + 2) * rows)
      : (story || session.ablation.value ? 56 : 39) * rows,
  };
  if (phone)
    return (
      <Main class={`instrument ${grows ? 'grown' : ''} ${halved ? '' : 'across'}`}>
        {picture}
        {legend}
        <div class={`halves ${tiles ? 'tiled' : ''}`}>
          {!grows && <Model {...model} names={false} />}
          {training ? <ShortCharts /> : <Prediction short writes />}
        </div>
        {story ? <Panel phone /> : !training && <Sheet />}
      </Main>
    );
  return (
    <Main class={`instrument ${grows ? 'grown' : ''}`}>
      {grows ? null : training ? (
        <Taught width={screen.model} height={height} />
      ) : (
        <Model width={screen.model} height={height} />
      )}
      <div class="middle">
        {picture}
        {legend}
      </div>
      {!training && <Prediction writes />}
      {training ? (
        <div class="train-right">
          <Panel />
        </div>
      ) : (
        <Panel compact />
      )}
    </Main>
  );
}

/** What is taught stands over the model; both have the picture's height. */
function Taught({ width, height }) {
  const above = useRef(null);
  const taken = useSize(above);
  return (
    <div>
      <div ref={above}>
        <Lesson compact />
      </div>
      <Model width={width} height={Math.max(height - taken.height, 0)} />
    </div>
  );
}

/** Whether the window is low. What a browser shows and hides at its edges while one scrolls changes nothing here. */
function useLow() {
  const isLow = () => innerHeight < LOW.height;
  const [low, setLow] = useState(isLow);
  useEffect(() => {
    const take = () => setLow(isLow());
    addEventListener('resize', take);
    return () => removeEventListener('resize', take);
  }, []);
  return low;
}

/** After so many milliseconds what is seldom needed is read as well. */
const UNTOUCHED = 3000;

/** Whether anything has been touched, or the colours are the visitor's own. */
function useUsed() {
  const [used, setUsed] = useState(matchMedia('(forced-colors: active)').matches);
  useEffect(() => {
    const use = () => setUsed(true);
    for (const kind of ['pointermove', 'keydown']) addEventListener(kind, use, { once: true });
    // A browser's menu prints a page that nobody has touched.
    const timer = setTimeout(use, UNTOUCHED);
    return () => clearTimeout(timer);
  }, []);
  return used;
}

/** Keys that work wherever one is, but while one writes. */
function useKeys(host) {
  const session = useSession();
  useEffect(() => {
    const onKey = (event) => {
      const target = event.composedPath()[0];
      // In another page the keys are its own until one is in the instrument.
      const { activeElement } = document;
      const elsewhere = activeElement !== host && (session.embedded || activeElement !== document.body);
      if (event.defaultPrevented || elsewhere) return;
      if (event.ctrlKey || event.metaKey) {
        if (event.key.toLowerCase() !== 'z' && event.key.toLowerCase() !== 'y') return;
        event.preventDefault();
        if (event.shiftKey || event.key.toLowerCase() === 'y') session.redo();
        else session.undo();
        return;
      }
      if (event.key === 'Escape') {
        session.stopWriting();
        session.setHover(null);
        if (session.state.value.cell) session.look({ cell: null });
        return;
      }
      if (/^(TEXTAREA|INPUT)$/.test(target.tagName) && target.type !== 'range') return;
      const about = session.about.value;
      const step = { '[': -1, ']': 1, '{': -about?.heads, '}': about?.heads }[event.key];
      if (!about || !step) return;
      event.preventDefault();
      const { layer, head } = session.state.value;
      const count = about.layers * about.heads;
      const next = (layer * about.heads + head + step + count) % count;
      const [l, h] = [Math.floor(next / about.heads), next % about.heads];
      session.update({ layer: l, head: h }, 'head');
      session.announce(session.words.value.headName(l, h));
    };
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, []);
}
