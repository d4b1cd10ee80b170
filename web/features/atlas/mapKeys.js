// The keyboard on the map: an arrow goes to the next head in its direction, a square bracket to the head with the next
// or previous number, Enter to the passages of the head, and a slash to the search.

import { useSession } from '../../ui/context.js';
import { valueText } from './numbers.js';
import { nextHead } from './placeLabels.js';
import { useAtlasTexts } from './texts.js';
import { useRoleNames } from './useAtlas.js';

/** @import { Drawn } from './headMap.jsx' */

/** @type {Record<string, { dx: number, dy: number }>} */
const DIRECTIONS = {
  ArrowLeft: { dx: -1, dy: 0 },
  ArrowRight: { dx: 1, dy: 0 },
  ArrowUp: { dx: 0, dy: -1 },
  ArrowDown: { dx: 0, dy: 1 },
};
/** The keys that go to the next or previous head by number. @type {Record<string, number>} */
const STEPS = { '[': -1, ']': 1 };

/**
 * @param {Drawn | null} drawn
 * @param {(head: number) => void} choose
 * @param {() => void} onEnter
 * @param {() => void} onFind
 */
export function useMapKeys(drawn, choose, onEnter, onFind) {
  const session = useSession();
  const texts = useAtlasTexts();
  const roleOf = useRoleNames(drawn?.map ?? null, drawn?.roles ?? []);
  const speak = (/** @type {number} */ head) => {
    if (!drawn) return;
    const { map, axes, values } = drawn;
    const name = session.words.peek().headName(Math.floor(head / map.heads), head % map.heads);
    const [x, y] = axes.map((axis, i) => texts.value[axis](valueText(axis, values[i][head])));
    session.announce(texts.spoken(name, roleOf(head), x, y));
  };
  return (/** @type {KeyboardEvent} */ event) => {
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
