// The line under the picture: the colour ramp with its marks on the left, the views on the right.

import { useSession } from '../../ui/context.js';
import { Menu } from '../../ui/menu.jsx';
import { px } from '../../ui/px.js';
import { isOpen } from '../train/settings.js';
import { canShow } from '../viewRules.js';
import { VIEWS, viewOf } from '../views.js';
import { Ramp } from './ramp.jsx';

/** Minimum width of the line: it may be wider than the picture. */
export const MIN_LEGEND_WIDTH = 560;
/** In a narrower view the name of the view is written instead of its comparison, and the ramp is shorter. */
const NARROW_VIEW = 420;

/** @param {number} width of the view */
const rampWidthOf = (width) =>
  Math.round(width < NARROW_VIEW ? Math.min(0.22 * width, 80) : Math.min(210, 0.32 * width));

/**
 * `left` and `right`: margins of the picture within the width.
 * @param {{ width: number, left: number, right?: number }} props
 */
export function Legend({ width, left, right = 0 }) {
  const session = useSession();
  const words = session.words.value;
  const run = session.run.value;
  const state = session.state.value;
  const { name: shown, Marks } = viewOf(state.view, run);
  const rampWidth = rampWidthOf(width);
  const paddingRight = width - left - right < MIN_LEGEND_WIDTH ? 0 : right;
  const views = VIEWS.filter(({ name, ways }) => canShow(name, run) && !(ways && isOpen(state)));
  return (
    <div class="legend" style={px({ paddingLeft: left, paddingRight })}>
      {Marks ? <Marks rampWidth={rampWidth} /> : <Ramp rampWidth={rampWidth} width={width - left} />}
      <span class="choice" role="group" aria-label={words.viewsOf}>
        {views.map(({ name, ways }) =>
          ways ? (
            <Ways key={name} name={name} ways={ways} isShown={name === shown} isNarrow={width < NARROW_VIEW} />
          ) : (
            <button
              key={name}
              type="button"
              class="word"
              aria-pressed={name === shown}
              onClick={() => session.update({ view: name })}
            >
              {words.views[name === 'heatmap' && run?.image ? 'patches' : name]}
            </button>
          ),
        )}
      </span>
    </div>
  );
}

/**
 * A view of several kinds, as a menu.
 * @param {object} props
 * @param {(typeof VIEWS)[number]['name']} props.name
 * @param {('beside' | 'difference')[]} props.ways
 * @param {boolean} props.isShown
 * @param {boolean} props.isNarrow
 */
function Ways({ name, ways, isShown, isNarrow }) {
  const session = useSession();
  const words = session.words.value;
  const { versus } = session.state.value;
  return (
    <Menu
      up
      right
      className={isShown ? 'pressed' : ''}
      label={isShown && !isNarrow ? words.compare[versus] : words.views[name]}
      name={`${words.views[name]}: ${isShown ? words.compare[versus] : words.compare.no}`}
      items={ways.map((way) => ({
        key: way,
        label: words.compare[way],
        about: words.compare[`${way}About`],
        chosen: isShown && way === versus,
        act: () => session.update({ view: name, versus: way }),
      }))}
    />
  );
}
