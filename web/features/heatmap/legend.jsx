// The line under the picture, with the colour ramp and its marks on the left and the views on the right.

import { useSession } from '../../ui/context.js';
import { later } from '../../ui/lazy.jsx';
import { Menu } from '../../ui/menu.jsx';
import { px } from '../../ui/px.js';
import { isOpen } from '../train/settings.js';
import { showsWritten } from '../viewRules.js';
import { viewOf, viewsFor } from '../views.js';
import { Ramp, rampItems } from './ramp.jsx';

const WrittenLine = later(() => import('../written/written.jsx'), 'WrittenLine');

/** @import { Item } from '../../ui/menu.jsx' */
/** @import { Session } from '../../store/session.js' */
/** @import { View } from '../views.js' */

/**
 * Draws the legend as one line, which begins and ends at the edges of the picture if its contents fit between them.
 * @param {object} props
 * @param {number} props.left left margin of the picture
 * @param {number} [props.right] right margin of the picture
 * @param {number} [props.before] left margin that the heatmap would have, so that the line has the same end in every
 *   view
 */
export function Legend({ left, right = 0, before = left }) {
  const session = useSession();
  const words = session.words.value;
  const run = session.run.value;
  const state = session.state.value;
  const { name: shown, Marks } = viewOf(state.view, run);
  // If the training of a model was continued, the model can be shown next to its earlier state.
  const further = isOpen(state) && session.training.changes.value !== null;
  const views = viewsFor(state, run, further).map((view) => (further && view.ways ? { ...view, ways: BESIDE } : view));
  const [kinds, others] = [views.filter(({ inMenu }) => inMenu), views.filter(({ inMenu }) => !inMenu)];
  return (
    <div class="legend" style={px({ '--left': left, '--right': right, '--before': before })}>
      {Marks ? <Marks /> : showsWritten(state, run) ? <WrittenLine run={run} /> : <Ramp isWhole />}
      <span class="choice views" role="group" aria-label={words.viewsOf}>
        <Kinds views={kinds} shown={shown} isElsewhere={others.some(({ name }) => name === shown)} />
        {others.map(({ name }) => (
          <button
            key={name}
            type="button"
            class="word"
            aria-pressed={name === shown}
            onClick={() => session.update({ view: name })}
          >
            {words.views[name]}
          </button>
        ))}
      </span>
    </div>
  );
}

/** @type {NonNullable<View['ways']>} */
const BESIDE = ['beside'];

/**
 * A menu of the pictures of one head, the colours of weights, and the text. While a different view is shown, a click
 * leads back to the picture.
 * @param {{ views: View[], shown: string, isElsewhere: boolean }} props isElsewhere: true if a view is shown that this
 *   menu does not contain
 */
function Kinds({ views, shown, isElsewhere }) {
  const session = useSession();
  const words = session.words.value;
  const run = session.run.value;
  const { versus } = session.state.value;
  const nameOf = (/** @type {View['name']} */ name) => words.views[name === 'heatmap' && run?.image ? 'patches' : name];
  const current = views.find(({ name }) => name === shown) ?? (isElsewhere ? undefined : views[0]);
  if (!current)
    return (
      <button type="button" class="word" aria-pressed={false} onClick={() => session.update({ view: 'heatmap' })}>
        {nameOf('heatmap')}
      </button>
    );
  const label = current.ways
    ? words.compare[current.ways.includes(versus) ? versus : current.ways[0]]
    : nameOf(current.name);
  return (
    <Menu
      up
      right
      className="pressed"
      label={label}
      name={`${words.viewsOf}: ${label}`}
      items={[
        ...views.flatMap((view) => kindItems(session, view, nameOf(view.name), shown)),
        ...(current.titled ? [] : rampItems(session)),
      ]}
    />
  );
}

/** @param {Session} session @param {View} view @param {string} label @param {string} shown @returns {Item[]} */
function kindItems(session, { name, ways }, label, shown) {
  const words = session.words.value;
  const { versus } = session.state.value;
  if (!ways) return [{ key: name, label, chosen: name === shown, act: () => session.update({ view: name }) }];
  return ways.map((way) => ({
    key: way,
    label: words.compare[way],
    about: isOpen(session.state.value) ? undefined : words.compare[`${way}About`],
    chosen: name === shown && way === versus,
    act: () => session.update({ view: name, versus: way }),
  }));
}
