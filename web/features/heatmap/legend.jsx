// The ramp with its marks on the left, the views on the right: always at this place.

import { useEffect, useRef } from 'preact/hooks';
import { px, useSession } from '../../ui/context.js';
import { Menu } from '../../ui/menu.jsx';
import { weightsOf } from '../reading/derivation.js';
import { isOpen } from '../train/lessons.js';
import { canShow, VIEWS, viewOf } from '../views.js';
import { marksOf, RAMP, SCALES, weightAt } from './colourRamp.js';
import { canMean, MEANS } from './meanOfHeads.js';
import { sized } from './paint.js';
import { mostOf } from './useColours.js';

const HEIGHT = 10;
/** How wide the ramp is where each mark has room. */
const SPACE = [0, 90, 150, 0, 0];

/** What stands in the line at least: where the picture is narrower, its words go on beyond it. */
export const LEAST = 560;

/** `left` and `right`: where the picture ends within the width. */
export function Legend({ width, left, right = 0 }) {
  const session = useSession();
  const words = session.words.value;
  const room = width - left;
  const wide = width < 420 ? Math.round(Math.min(0.22 * width, 80)) : Math.min(210, Math.round(0.32 * width));
  const state = session.state.value;
  const { name: shown, Marks } = viewOf(state.view, session.run.value);
  const training = isOpen(state);
  return (
    <div class="legend" style={px({ paddingLeft: left, paddingRight: width - left - right < LEAST ? 0 : right })}>
      {Marks ? <Marks wide={wide} /> : <Ramp wide={wide} width={room} />}
      <span class="choice" role="group" aria-label={words.viewsOf}>
        {VIEWS.filter(({ name, ways }) => canShow(name, session.run.value) && !(ways && training)).map(
          ({ name, ways }) =>
            ways ? (
              <Menu
                key={name}
                up
                right
                className={name === shown ? 'pressed' : ''}
                label={name === shown && width >= 420 ? words.compare[state.versus] : words.views[name]}
                name={`${words.views[name]}: ${name === shown ? words.compare[state.versus] : words.compare.no}`}
                items={ways.map((way) => ({
                  key: way,
                  label: words.compare[way],
                  about: words.compare[`${way}About`],
                  chosen: name === shown && way === state.versus,
                  act: () => session.update({ view: name, versus: way }),
                }))}
              />
            ) : (
              <button
                key={name}
                type="button"
                class="word"
                aria-pressed={name === shown}
                onClick={() => session.update({ view: name })}
              >
                {words.views[name === 'heatmap' && session.run.value?.image ? 'patches' : name]}
              </button>
            ),
        )}
      </span>
    </div>
  );
}

/** Signs are explained where they are seen and there is room. */
const ROOM = { masked: 490, nan: 555 };
/** In a narrower line the colours are chosen elsewhere. */
const NARROW = 400;
const isMasked = (run) => {
  const { scores } = run?.values ?? {};
  return Boolean(
    scores?.some((score, i) => score === Number.NEGATIVE_INFINITY && (!run.about.causal || i % run.S <= i / run.S)),
  );
};
const hasNan = (run) => Boolean(run && weightsOf(run, run.layer, run.head)?.some(Number.isNaN));

export function Ramp({ wide, width = 0 }) {
  const session = useSession();
  const words = session.words.value;
  const theme = session.theme.value;
  const bar = useRef(/** @type {any} */ (null));
  const run = session.run.value;
  const { colours } = session.state.value;
  const most = run ? mostOf(run, run.layer, run.head) : 1;
  useEffect(() => {
    const context = sized(bar.current, wide, HEIGHT);
    for (let x = 0; x < wide; x++) {
      context.fillStyle = RAMP[theme].css(weightAt(x / (wide - 1)));
      context.fillRect(x, 0, 1, HEIGHT);
    }
  }, [wide, theme]);
  return (
    <>
      <div class="ramp" style={px({ width: wide })} role="img" aria-label={words.legend}>
        <canvas ref={bar} />
        {marksOf(colours, most).map(
          ({ text, place }, i) =>
            wide > SPACE[i] && (
              <span key={text} style={px({ left: `${100 * place}%` })}>
                {text}
              </span>
            ),
        )}
      </div>
      {width >= NARROW && <Colours />}
      {isMasked(run) && width >= ROOM.masked && <Sample drawn="M1 9L9 1" text={words.masked} />}
      {hasNan(run) && width >= ROOM.nan && <Sample drawn="M.5.5h9v9h-9zM.5.5l9 9M9.500.5l-9 9" text={words.nan} />}
    </>
  );
}

/** How weights become colours, and of which heads the picture is. On a phone it is behind the three dots. */
export function Colours() {
  const session = useSession();
  const words = session.words.value;
  const run = session.run.value;
  const { colours, mean } = session.state.value;
  const several = run && run.about.layers * run.about.heads > 1;
  return (
    <Menu
      up
      name={`${words.colours.name}: ${words.colours[colours]}`}
      label={words.colours[colours]}
      items={[
        ...SCALES.map((how) => ({
          key: how,
          label: words.colours[how],
          about: words.colours[`${how}About`],
          chosen: how === colours,
          act: () => session.update({ colours: how }),
        })),
        ...MEANS.filter((one) => several && canMean(run, one)).map((one) => ({
          key: `mean-${one}`,
          label: words.means[one],
          chosen: one === mean,
          act: () => session.update({ mean: one }),
        })),
      ]}
    />
  );
}

function Sample({ drawn, text }) {
  return (
    <span class="sample">
      <svg viewBox="0 0 10 10" aria-hidden="true">
        <path d={drawn} />
      </svg>
      {text}
    </span>
  );
}
