// The line under the picture, with the colour ramp and its marks on the left and the views on the right.

import { WrittenLine } from '../features/written/feature.ts';
import { isOpen } from '../model/training/settings.ts';
import { showsWritten } from '../model/viewRules.ts';
import { Ramp, rampItems } from '../parts/ramp.tsx';
import { useSession } from '../store/context.ts';
import type { Session } from '../store/session.ts';
import { type Item, Menu } from '../ui/menu.tsx';
import { px } from '../ui/px.ts';
import { type View, viewOf, viewsFor } from './views.ts';

/** Draws the legend as one line, which begins and ends at the edges of the picture if its contents fit between them. */
export function Legend({
  left,
  right = 0,
  before = left,
}: {
  left: number;
  right?: number;
  /** left margin that the heatmap would have, so that the line has the same end in every view */
  before?: number;
}) {
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

const BESIDE: NonNullable<View['ways']> = ['beside'];

/** A menu of one head's pictures, weight colours and text. `isElsewhere`: another view is shown; a click leads back. */
function Kinds({ views, shown, isElsewhere }: { views: View[]; shown: string; isElsewhere: boolean }) {
  const session = useSession();
  const words = session.words.value;
  const run = session.run.value;
  const { versus } = session.state.value;
  const nameOf = (name: View['name']) => words.views[name === 'heatmap' && run?.image ? 'patches' : name];
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

function kindItems(session: Session, { name, ways }: View, label: string, shown: string): Item[] {
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
