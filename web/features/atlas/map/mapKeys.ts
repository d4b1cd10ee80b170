// The keyboard on the map: an arrow goes to the next head in its direction, a square bracket to the head with the next
// or previous number, Enter to the passages of the head, and a slash to the search.

import { useSession } from '../../../store/context.ts';
import { valueText } from '../numbers.ts';
import { nextHead } from '../placeLabels.ts';
import { useAtlasTexts } from '../texts.ts';
import { useRoleNames } from '../useAtlas.ts';
import type { Drawn } from './headMap.tsx';

const DIRECTIONS: Record<string, { dx: number; dy: number }> = {
  ArrowLeft: { dx: -1, dy: 0 },
  ArrowRight: { dx: 1, dy: 0 },
  ArrowUp: { dx: 0, dy: -1 },
  ArrowDown: { dx: 0, dy: 1 },
};
/** The keys that go to the next or previous head by number. */
const STEPS: Record<string, number> = { '[': -1, ']': 1 };

export function useMapKeys(
  drawn: Drawn | null,
  choose: (head: number) => void,
  onEnter: () => void,
  onFind: () => void,
) {
  const session = useSession();
  const texts = useAtlasTexts();
  const roleOf = useRoleNames(drawn?.map ?? null, drawn?.roles ?? []);
  const speak = (head: number) => {
    if (!drawn) return;
    const { map, axes, values } = drawn;
    const name = session.words.peek().headName(Math.floor(head / map.heads), head % map.heads);
    const [x, y] = axes.map((axis, i) => texts.value[axis](valueText(axis, values[i][head])));
    session.announce(texts.spoken(name, roleOf(head), x, y));
  };
  return (event: KeyboardEvent) => {
    if (!drawn || event.ctrlKey || event.metaKey || event.altKey) return;
    const { layer, head } = session.state.peek();
    const count = drawn.points.length;
    const at = Math.min(layer * drawn.map.heads + head, count - 1);
    const direction = DIRECTIONS[event.key];
    const step = STEPS[event.key];
    if (event.key === 'Enter') onEnter();
    else if (event.key === '/') onFind();
    else if (direction || step) {
      const next = direction ? nextHead(drawn.points, at, direction) : (at + step + count) % count;
      if (next !== at) choose(next);
      speak(next);
    } else return;
    event.preventDefault();
    event.stopPropagation();
  };
}
