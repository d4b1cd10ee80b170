// The line under the picture: the colour ramp with its marks on the left, the views on the right.

import { useSession } from '../../ui/context.js';
import { Menu } from '../../ui/menu.jsx';
import { px } from '../../ui/px.js';
import { isOpen } from '../train/settings.js';
import { canShow } from '../viewRules.js';
import { VIEWS, viewOf } from '../views.js';
import { Ramp } from './ramp.jsx';

/**
 * The line begins and ends where the picture does, if that leaves room for it.
 * @param {object} props
 * @param {number} props.left margin of the picture
 * @param {number} [props.right] the same on the right
 * @param {number} [props.before] left margin that the heatmap would have: the line ends at the same place in every view
 */
export function Legend({ left, right = 0, before = left }) {
  const session = useSession();
  const words = session.words.value;
  const run = session.run.value;
  const state = session.state.value;
  const { name: shown, Marks } = viewOf(state.view, run);
  const views = VIEWS.filter(({ name, ways, titled }) => canShow(name, run) && !((ways || titled) && isOpen(state)));
  return (
    <div class="legend" style={px({ '--left': left, '--right': right, '--before': before })}>
      {Marks ? <Marks /> : <Ramp isWhole />}
      <span class="choice" role="group" aria-label={words.viewsOf}>
        {views.map(({ name, ways }) =>
          ways ? (
            <Ways key={name} name={name} ways={ways} isShown={name === shown} />
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
 */
function Ways({ name, ways, isShown }) {
  const session = useSession();
  const words = session.words.value;
  const { versus } = session.state.value;
  return (
    <Menu
      up
      right
      className={isShown ? 'pressed' : ''}
      label={
        isShown ? (
          // In a narrow line the name of the view is shorter than that of the comparison.
          <>
            <span class="in-wide">{words.compare[versus]}</span>
            <span class="in-narrow">{words.views[name]}</span>
          </>
        ) : (
          words.views[name]
        )
      }
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
