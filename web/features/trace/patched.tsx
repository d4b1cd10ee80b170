// The place that is patched, in the what-if line, with a button that undoes the patch.

import { positionIn } from '../../model/tokens.ts';
import { useSession } from '../../store/context.ts';
import { chosenIn, textsIn } from './traceState.ts';

export { default as styles } from './patched.css';

export function Patched() {
  const session = useSession();
  const own = textsIn(session);
  const place = chosenIn(session);
  const run = session.run.value;
  if (!place || !run || !session.state.value.pinned) return null;
  const { part, layer } = place;
  const names = run.pieces.map(({ name }) => name);
  const position = part === 'head' ? null : positionIn(names, place.place);
  const name = part === 'head' ? String(place.place) : (names[place.place] ?? String(place.place));
  return (
    <span class="group patched">
      <span>
        <b>{own.patched}</b> {own.patchedAt(part, layer, position === null ? name : `${name} (${position})`)}
        <span class="from-upper">, {own.fromUpper}</span>
      </span>
      <button type="button" class="word" onClick={() => session.update({ patch: {} })}>
        {own.undo}
      </button>
    </span>
  );
}
