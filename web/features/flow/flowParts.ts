// The parts of a model that flow draws: heads, feed-forward parts, the token's embedding, and the rest of the heads as
// one part.

import type { Added, Node, Part, Place } from './flowLayout.ts';

/** Returns a layer's heads that are drawn, and the rest. Without room: the chosen and the largest above `hide`. */
export function headsShown({
  heads,
  layer,
  count,
  slots,
  hide,
  chosen,
}: {
  /** contributions, (L,H) */
  heads: ArrayLike<number>;
  layer: number;
  /** number of heads in a layer */
  count: number;
  slots: number;
  hide: number;
  chosen: Place;
}) {
  const all = Array.from({ length: count }, (_, head) => head);
  if (count <= slots) return { shown: all, rest: [] as number[] };
  const value = (head: number) => Math.abs(heads[layer * count + head]);
  const isChosen = (head: number) => chosen.layer === layer && chosen.head === head;
  const first = all
    .filter((head) => isChosen(head) || value(head) >= hide)
    .sort((a, b) => Number(isChosen(b)) - Number(isChosen(a)) || value(b) - value(a) || a - b)
    .slice(0, slots - 1);
  return { shown: all.filter((head) => first.includes(head)), rest: all.filter((head) => !first.includes(head)) };
}

/** Returns all parts without boxes. `slots`: columns of heads; each other kind of part has one more column. */
export function partsOf({
  layers,
  heads,
  mlps,
  added,
  hide,
  chosen,
  slots,
}: {
  layers: number;
  heads: number;
  mlps?: boolean;
  added: Added;
  hide: number;
  chosen: Place;
  slots: number;
}): Node[] {
  const parts: Node[] = [];
  const box = { x: 0, y: 0, width: 0, height: 0 };
  const add: (part: Part, value: number, slot: number, folded?: number[]) => void = (
    part,
    value,
    slot,
    folded = [],
  ) => {
    parts.push({ ...part, ...box, value, slot, heads: folded, shown: Math.abs(value) >= hide });
  };
  for (let layer = 0; layer < layers; layer++) {
    const { shown, rest } = headsShown({ heads: added.heads, layer, count: heads, slots, hide, chosen });
    shown.forEach((head, slot) => add({ kind: 'head', layer, head }, added.heads[layer * heads + head], slot));
    if (rest.length > 0) {
      const value = rest.reduce((sum, head) => sum + added.heads[layer * heads + head], 0);
      add({ kind: 'rest', layer, head: -1 }, value, slots - 1, rest);
    }
    const others = othersIn(added, layer, heads);
    if (others !== null) add({ kind: 'others', layer, head: -1 }, others, slots);
    if (mlps) add({ kind: 'mlp', layer, head: -1 }, added.mlps[layer], slots + (added.others ? 1 : 0));
  }
  add({ kind: 'embed', layer: -1, head: -1 }, added.embed, slots + besides({ mlps, added }));
  return parts;
}

/** Returns the number of columns that do not contain heads. */
export const besides = ({ mlps, added }: { mlps?: boolean; added: Added }) => (mlps ? 1 : 0) + (added.others ? 1 : 0);

/** Returns the summed contributions of a layer's heads in the decoder's attention that is not shown. */
function othersIn({ others }: Added, layer: number, heads: number) {
  if (!others) return null;
  let sum = 0;
  for (let head = 0; head < heads; head++) sum += others[layer * heads + head];
  return sum;
}
