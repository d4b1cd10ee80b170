// Where everything of the flow stands. The tokens are the feet of the machine, its layers stand above them, the next
// token on top. What a part adds to the logit of that token flows into it as a ribbon, as wide as it adds.
//
// No ribbon crosses another one, nor a thumbnail. Every column has a lane of its own beside it, on the side of the
// widest ribbon, which goes straight up; ribbons from lower layers keep further out in the lane. Above the rows those
// from further out pass over those from further in. Lines from head to head use the other side of the columns.

import { thumbnailSize } from '../../ui/layout.js';

/**
 * layer, head: −1 for none.
 * @typedef {{ kind: 'head' | 'mlp' | 'embed' | 'rest', layer: number, head: number }} Part
 */
/** @typedef {{ x: number, y: number, width: number, height: number }} Box */
/** @typedef {Part & Box & { value: number, heads: number[], slot: number, shown: boolean }} Node */
/** @typedef {Part & { value: number, width: number, d: string, boxes: Box[], foot: number }} Ribbon */
/** @typedef {{ layer: number, head: number }} Place */
/** @typedef {'q' | 'k' | 'v'} Kind what of the upper head is fed */
/** @typedef {{ from: Place, to: Place, kind: Kind, value: number }} Feed */
/** @typedef {Feed & { width: number, d: string, boxes: Box[] }} Line */
/**
 * What attribution says.
 * @typedef {{ embed: number, heads: ArrayLike<number>, mlps: ArrayLike<number>, bias: number, sum: number }} Added
 */

/** Pixels of a logit at most, and the share of the width that all ribbons may take. */
const MOST = 14;
const SHARE = 0.1;
/** Of the height that rows have: what ribbons above the rows may take, and those between the rows. */
const FAN = 0.34;
const BETWEEN = 0.25;
/** Corners on the inner side. */
const CORNER = 6;
/** A column of heads is never narrower; where there are more heads, only some are shown. */
const NARROW = 44;
const KINDS = /** @type {const} */ (['q', 'k', 'v']);
/** Lines beside a column: one for each kind, and one for the tokens that a head looks at. */
const LANES = 4;

/**
 * Which heads of a layer stand in the drawing: all, or, where there is no room for all, the chosen one and those that
 * count most, none of them below the threshold. The others are the rest.
 * @param {object} given
 * @param {ArrayLike<number>} given.heads what each adds, (L,H)
 * @param {number} given.layer
 * @param {number} given.count of heads in a layer
 * @param {number} given.slots
 * @param {number} given.hide
 * @param {Place} given.chosen
 */
export function headsShown({ heads, layer, count, slots, hide, chosen }) {
  const all = Array.from({ length: count }, (_, head) => head);
  if (count <= slots) return { shown: all, rest: /** @type {number[]} */ ([]) };
  const value = (/** @type {number} */ head) => Math.abs(heads[layer * count + head]);
  const isChosen = (/** @type {number} */ head) => chosen.layer === layer && chosen.head === head;
  const first = all
    .filter((head) => isChosen(head) || value(head) >= hide)
    .sort((a, b) => Number(isChosen(b)) - Number(isChosen(a)) || value(b) - value(a) || a - b)
    .slice(0, slots - 1);
  return { shown: all.filter((head) => first.includes(head)), rest: all.filter((head) => !first.includes(head)) };
}

/**
 * @param {object} given
 * @param {number} given.width
 * @param {number} given.height
 * @param {number} given.top what stands above the ribbons: title and next token
 * @param {number} given.side where layers are named, on the left
 * @param {number} given.feet where tokens stand, at the bottom
 * @param {number} given.layers
 * @param {number} given.heads
 * @param {number} given.tokens
 * @param {boolean} given.mlps whether there are feed-forward parts
 * @param {Added} given.added
 * @param {number} given.hide parts and lines below it are not drawn
 * @param {Place} given.chosen
 * @param {Feed[]} given.feeds
 */
export function flowOf({ width, height, top, side, feet, layers, heads, tokens, mlps, added, hide, chosen, feeds }) {
  const room = width - side - RIGHT;
  const narrow = layers > 12 ? 1.5 * NARROW : NARROW;
  const slots = Math.min(heads, Math.max(Math.floor(room / narrow) - (mlps ? 1 : 0), 2));
  const columns = slots + (mlps ? 1 : 0);
  const pitch = room / columns;
  const middle = (/** @type {number} */ slot) => side + (slot + 0.5) * pitch;
  const parts = partsOf({ layers, heads, mlps, added, hide, chosen, slots });
  const flowing = parts.filter(({ shown, value }) => shown && value > 0);
  const widest = flowing.reduce((best, part) => (part.value > best.value ? part : best), flowing[0]) ?? parts[0];
  // Columns on the left of the widest ribbon have their lane on the right, the others on the left.
  const toRight = (/** @type {Node} */ { slot }) => (slot === widest.slot ? slot < columns / 2 : slot < widest.slot);

  const pad = Math.min(7, 0.08 * pitch);
  const lineRoom = Math.min(26, 0.16 * pitch);
  const tall = height - top - feet;
  const least = Math.min(Math.max((0.3 * tall) / layers, 3), 31);
  const sizeFor = (/** @type {number} */ forRows) => {
    const most = Math.max(Math.min(forRows / layers - least, (pitch < 90 ? 0.5 : 0.62) * pitch, 96), 2);
    return thumbnailSize(most, tokens);
  };
  const mlpWidth = Math.min(0.64 * pitch, 84);
  const halfOf = (/** @type {number} */ slot, /** @type {number} */ size) => (slot < slots ? size : mlpWidth) / 2;
  // How wide ribbons may be depends on how wide thumbnails are, and that on the height of the ribbons: the thumbnails
  // are measured for the widest ribbons that there could be, then the ribbons are fitted between them.
  const bold = boldness({ flowing, widest, toRight, width, tall, layers, columns, pitch, pad, lineRoom, slots });
  const sizeAt = (/** @type {{ scale: number, thin: number, apart: number }} */ { scale, thin, apart }) => {
    const grown = flowing.map((part) => ({ ...part, w: Math.max(part.value * scale, thin) }));
    const between = Array.from({ length: layers }, (_, layer) =>
      layer === layers - 1
        ? 0
        : grown.reduce((most, part) => (part.layer === layer ? Math.max(most, part.w) : most), 0),
    );
    const sides = [0, 0];
    for (const part of grown) {
      if (part.slot <= widest.slot) sides[0] += part.w + apart;
      if (part.slot >= widest.slot) sides[1] += part.w + apart;
    }
    const own = Math.max(widest.value * scale, thin) + apart;
    const fan = flowing.length > 0 ? Math.max(Math.max(...sides) - own, 0) : 0;
    const rowsTop = top + fan + CORNER + 4;
    const forRows = height - feet - rowsTop - between.reduce((sum, x) => sum + x, 0);
    return { between, rowsTop, forRows, size: sizeFor(forRows) };
  };
  let measured = sizeAt(bold(0));
  const { scale, thin, apart } = bold(measured.size, halfOf);
  const { size } = measured;
  measured = sizeAt({ scale, thin, apart });
  const { rowsTop, forRows } = measured;
  const spread = Math.max((forRows - layers * size) / layers, 0);
  const gaps = measured.between.map((x) => x + spread);
  const wide = (/** @type {number} */ value) => Math.max(value * scale, thin);

  // Thumbnails and feed-forward parts.
  const rows = new Array(layers);
  let y = rowsTop;
  for (let layer = layers - 1; layer >= 0; layer--) {
    y += gaps[layer];
    rows[layer] = { y, gap: gaps[layer] };
    y += size;
  }
  const mlpBox = { width: mlpWidth, height: Math.min(size, 24) };
  for (const part of parts) {
    const x = part.kind === 'embed' ? width - RIGHT + 9 : middle(part.slot);
    if (part.kind === 'embed') Object.assign(part, { x, y: height - feet, width: 0, height: 0 });
    else if (part.kind === 'mlp')
      Object.assign(part, {
        x: x - mlpBox.width / 2,
        y: rows[part.layer].y + (size - mlpBox.height) / 2,
        ...mlpBox,
      });
    else Object.assign(part, { x: x - size / 2, y: rows[part.layer].y, width: size, height: size });
  }

  const clear = Math.min(CORNER, 0.3 * spread);
  const ribbons = ribbonsOf({
    clear,
    flowing,
    widest,
    wide,
    apart,
    pad,
    toRight,
    middle,
    layers,
    rows,
    size,
    rowsTop,
    top,
  });
  const lines = linesOf({ feeds, parts, hide, size, toRight, middle, lineRoom, pad, spread });
  const total = ribbons.reduce((sum, ribbon) => sum + ribbon.width + apart, -apart);
  const from = ribbons.reduce((found, { foot, width: w }) => Math.min(found, foot - w / 2), Number.POSITIVE_INFINITY);
  const target = ribbons.length > 0 ? { x: from + total / 2, width: total } : { x: width / 2, width: 0 };
  return { scale, thin, apart, size, pitch, pad, parts, ribbons, lines, rows, target, lineRoom, middle, toRight };
}

/** What is on the right of all columns: the ribbon of the token itself. */
const RIGHT = 22;

/**
 * How many pixels a logit may have, and how much room there is between ribbons, so that all of them fit beside the
 * columns, above the rows and between them.
 */
function boldness(
  /** @type {any} */ { flowing, widest, toRight, width, tall, layers, columns, pitch, pad, lineRoom, slots },
) {
  const positive = flowing.reduce((/** @type {number} */ sum, /** @type {Node} */ { value }) => sum + value, 0);
  /** Lists that have to fit in a number of pixels. @type {(size: number, halfOf?: any) => any} */
  return (size, halfOf = () => size / 2) => {
    /** @type {{ room: number, count: number, sum: number }[]} */
    const limits = [];
    const limit = (/** @type {number} */ roomFor, /** @type {Node[]} */ list) =>
      limits.push({ room: roomFor, count: list.length, sum: list.reduce((sum, { value }) => sum + value, 0) });
    limit(
      FAN * tall,
      flowing.filter((/** @type {Node} */ part) => part !== widest && part.slot <= widest.slot),
    );
    limit(
      FAN * tall,
      flowing.filter((/** @type {Node} */ part) => part !== widest && part.slot >= widest.slot),
    );
    const highest = Array.from({ length: layers - 1 }, (_, layer) =>
      flowing
        .filter((/** @type {Node} */ part) => part.layer === layer)
        .reduce(
          (/** @type {any} */ most, /** @type {Node} */ part) => (part.value > (most?.value ?? 0) ? part : most),
          null,
        ),
    ).filter(Boolean);
    limit(BETWEEN * tall, highest);
    const inLane = flowing.filter((/** @type {Node} */ { kind, layer }) => kind !== 'embed' && layer < layers - 1);
    const sideOf = (/** @type {number} */ slot) => toRight({ slot });
    for (let slot = -1; slot < columns; slot++) {
      // Between this column and the next one; on the outside there is only half of it.
      const inner = [slot, slot + 1].filter((i) => i >= 0 && i < columns);
      const roomFor =
        (inner.length === 2 ? pitch : pitch / 2) -
        inner.reduce((sum, i) => sum + halfOf(i, size) + pad, 0) -
        (inner.some((i) => i < slots && sideOf(i) !== (i === slot)) ? lineRoom : 0);
      limit(
        Math.max(roomFor, 2),
        inLane.filter(
          (/** @type {Node} */ part) =>
            (part.slot === slot && sideOf(slot)) || (part.slot === slot + 1 && !sideOf(slot + 1)),
        ),
      );
    }
    const q = limits.reduce((found, { room, count }) => Math.min(found, (0.6 * room) / Math.max(count, 1)), 3);
    const fitting = limits.map(({ room, count, sum }) => (sum > 0 ? (room - count * q) / sum : MOST));
    // No ribbon is much wider than what it comes from.
    const own = flowing.map((/** @type {Node} */ { slot, value }) => (2 * halfOf(slot, size) + 2 * pad) / value);
    const scale = Math.min(MOST, (SHARE * width) / Math.max(positive, 1e-9), ...fitting, ...(size > 0 ? own : []));
    return { scale: Math.max(scale, 0), thin: q / 3, apart: (2 * q) / 3 };
  };
}

/** @returns {Node[]} */
function partsOf(
  /** @type {any} */
  { layers, heads, mlps, added, hide, chosen, slots },
) {
  /** @type {Node[]} */
  const parts = [];
  const box = { x: 0, y: 0, width: 0, height: 0 };
  const add = (/** @type {Part} */ part, /** @type {number} */ value, /** @type {number} */ slot, folded = []) =>
    parts.push({ ...part, ...box, value, slot, heads: folded, shown: Math.abs(value) >= hide });
  for (let layer = 0; layer < layers; layer++) {
    const { shown, rest } = headsShown({ heads: added.heads, layer, count: heads, slots, hide, chosen });
    shown.forEach((head, slot) => add({ kind: 'head', layer, head }, added.heads[layer * heads + head], slot));
    if (rest.length > 0) {
      const value = rest.reduce((sum, head) => sum + added.heads[layer * heads + head], 0);
      add({ kind: 'rest', layer, head: -1 }, value, slots - 1, /** @type {any} */ (rest));
    }
    if (mlps) add({ kind: 'mlp', layer, head: -1 }, added.mlps[layer], slots);
  }
  add({ kind: 'embed', layer: -1, head: -1 }, added.embed, slots + (mlps ? 1 : 0));
  return parts;
}

/** @returns {Ribbon[]} */
function ribbonsOf(
  /** @type {any} */
  { clear, flowing, widest, wide, apart, pad, toRight, middle, layers, rows, size, rowsTop, top },
) {
  const placed = flowing.map((/** @type {Node} */ part) => {
    const w = wide(part.value);
    const start = { x: middle(part.slot), y: part.y };
    if (part.kind === 'embed') return { part, w, start: { ...start, x: part.x }, x: part.x };
    if (part.layer === layers - 1) return { part, w, start, x: start.x };
    const right = toRight(part);
    // In the lane those from below are further out. A ribbon of the top layer may be wider than its thumbnail.
    const above = flowing.find((/** @type {Node} */ other) => other.layer === layers - 1 && other.slot === part.slot);
    let out = Math.max(size / 2 + pad, above ? wide(above.value) / 2 + apart : 0, part.width / 2 + pad);
    for (const other of flowing)
      if (other.slot === part.slot && other.layer > part.layer && other.layer < layers - 1)
        out += wide(other.value) + apart;
    return { part, w, start, x: start.x + (right ? 1 : -1) * (out + w / 2) };
  });
  placed.sort((/** @type {any} */ a, /** @type {any} */ b) => a.x - b.x);
  const main = placed.findIndex((/** @type {any} */ { part }) => part === widest);
  /** @type {Ribbon[]} */
  const ribbons = [];
  for (const way of [-1, 1]) {
    // From the widest outwards: feet side by side, and each passes over those further in.
    let foot = placed[main]?.x;
    let track = rowsTop;
    let before = 0;
    for (let i = way < 0 ? main : main + 1; i >= 0 && i < placed.length; i += way) {
      const { part, w, start, x } = placed[i];
      if (i === main) before = w;
      else {
        const inner = before === 0 ? placed[main].w : before;
        foot += way * (inner / 2 + apart + w / 2);
        before = w;
      }
      const turns = [];
      if (Math.abs(x - start.x) > 0.01) turns.push({ y: rows[part.layer].y - clear - w / 2, x });
      if (i !== main && Math.abs(foot - x) > 0.01) {
        turns.push({ y: track - w / 2, x: foot });
        track -= w + apart;
      }
      ribbons.push({ ...partOf(part), value: part.value, width: w, foot, ...ribbonOf(start, turns, top, w) });
    }
  }
  return ribbons;
}

/** @param {Part} part @returns {Part} */
const partOf = ({ kind, layer, head }) => ({ kind, layer, head });

/** Points on a quarter of a circle from one corner to another. */
function corner(
  /** @type {number} */ x,
  /** @type {number} */ y,
  /** @type {number} */ toX,
  /** @type {number} */ toY,
  upFirst = true,
) {
  return Array.from({ length: 7 }, (_, i) => {
    const angle = (i / 6) * (Math.PI / 2);
    const [a, b] = [1 - Math.cos(angle), Math.sin(angle)];
    return upFirst ? [x + (toX - x) * a, y + (toY - y) * b] : [x + (toX - x) * b, y + (toY - y) * a];
  });
}

/**
 * The outline of a ribbon that goes up, changes its place at every turn and ends at a height.
 * @param {{ x: number, y: number }} start
 * @param {{ x: number, y: number }[]} turns
 * @param {number} end
 * @param {number} w
 */
function ribbonOf(start, turns, end, w) {
  const half = w / 2;
  const [left, right] = [[[start.x - half, start.y]], [[start.x + half, start.y]]];
  const boxes = [];
  let { x, y } = start;
  for (const turn of turns) {
    const dx = turn.x - x;
    const [low, high] = [turn.y + half, turn.y - half];
    boxes.push(boxOf(x - half, high, x + half, y), boxOf(Math.min(x, turn.x), high, Math.max(x, turn.x), low));
    const inner = Math.min((Math.abs(dx) - w) / 2, CORNER, Math.max(y - low, 0));
    if (inner < 0) {
      // Too near for two corners.
      for (let i = 0; i <= 12; i++) {
        const share = i / 12;
        const at = x + dx * share * share * (3 - 2 * share);
        left.push([at - half, low + (high - low) * share]);
        right.push([at + half, low + (high - low) * share]);
      }
    } else {
      const way = Math.sign(dx);
      const outer = inner + w;
      // The edge on the outside of the first corner is on the inside of the second.
      const [first, second] = way > 0 ? [left, right] : [right, left];
      first.push(
        ...corner(x - way * half, low + inner, x - way * half + way * outer, high),
        ...corner(turn.x - way * half - way * inner, high, turn.x - way * half, high - inner, false),
      );
      second.push(
        ...corner(x + way * half, low + inner, x + way * half + way * inner, low),
        ...corner(turn.x + way * half - way * outer, low, turn.x + way * half, low - outer, false),
      );
    }
    x = turn.x;
    y = turn.y + half;
  }
  left.push([x - half, end]);
  right.push([x + half, end]);
  boxes.push(boxOf(x - half, end, x + half, y));
  const points = [...left, ...right.reverse()].map(([a, b]) => `${a.toFixed(1)} ${b.toFixed(1)}`);
  return { d: `M${points.join('L')}Z`, boxes };
}

/** @returns {Box} */
const boxOf = (
  /** @type {number} */ left,
  /** @type {number} */ top,
  /** @type {number} */ right,
  /** @type {number} */ bottom,
) => ({ x: left, y: top, width: right - left, height: bottom - top });

/** @returns {Line[]} */
function linesOf(/** @type {any} */ { feeds, parts, hide, size, toRight, middle, lineRoom, pad, spread }) {
  const nodeOf = (/** @type {Place} */ { layer, head }) =>
    parts.find((/** @type {Node} */ part) => part.kind === 'head' && part.layer === layer && part.head === head);
  const strongest = feeds.reduce((most, /** @type {Feed} */ { value }) => Math.max(most, value), 1e-9);
  return feeds
    .filter((/** @type {Feed} */ { value }) => value >= hide)
    .map((/** @type {Feed} */ feed) => ({ feed, from: nodeOf(feed.from), to: nodeOf(feed.to) }))
    .filter((/** @type {any} */ { from, to }) => from && to)
    .sort((/** @type {any} */ a, /** @type {any} */ b) => a.feed.value - b.feed.value)
    .map((/** @type {any} */ { feed, from, to }) => {
      const kind = KINDS.indexOf(feed.kind);
      // Below the upper head, each kind at a height of its own.
      const step = Math.min(6, spread / 5);
      const w = (1 + 4 * (feed.value / strongest)) * Math.min(step / 5, 1);
      const way = toRight(from) ? -1 : 1;
      const lane = middle(from.slot) + way * (size / 2 + pad + lineRoom * ((kind + 0.5) / LANES));
      const track = to.y + size + step * (1.2 + kind);
      const port = to.x + size * (0.25 + 0.25 * kind);
      const points = [
        [from.x + (way > 0 ? size : 0), from.y + size * (0.3 + 0.2 * kind)],
        [lane, from.y + size * (0.3 + 0.2 * kind)],
        [lane, track],
        [port, track],
        [port, to.y + size + 1],
      ];
      return { ...feed, width: w, d: bent(points, CORNER), boxes: boxesAlong(points, w) };
    });
}

/** A line with round corners. */
export function bent(/** @type {number[][]} */ points, /** @type {number} */ radius) {
  const text = (/** @type {any} */ [x, y]) => `${x.toFixed(1)} ${y.toFixed(1)}`;
  const towards = (/** @type {number[]} */ a, /** @type {number[]} */ b, /** @type {number} */ by) => {
    const length = Math.hypot(b[0] - a[0], b[1] - a[1]) || 1;
    const share = Math.min(by / length, 0.5);
    return [a[0] + (b[0] - a[0]) * share, a[1] + (b[1] - a[1]) * share];
  };
  let d = `M${text(points[0])}`;
  for (let i = 1; i < points.length - 1; i++) {
    const [before, after] = [points[i - 1], points[i + 1]].map((end) => text(towards(points[i], end, radius)));
    d += `L${before}Q${text(points[i])} ${after}`;
  }
  return `${d}L${text(points.at(-1))}`;
}

const boxesAlong = (/** @type {number[][]} */ points, /** @type {number} */ w) =>
  points.slice(1).map(([x, y], i) => {
    const [a, b] = points[i];
    return boxOf(Math.min(a, x) - w / 2, Math.min(b, y) - w / 2, Math.max(a, x) + w / 2, Math.max(b, y) + w / 2);
  });

/** Beyond the last token, and before the first. */
const [END, BEGIN] = [12, 10];
/** From one token to the next at least: level, and slanted. */
const [LEVEL, SLANTED] = [46, 16];

/**
 * Whether tokens are written slanted: there is no room for all of them level, but for all slanted.
 * @param {{ side: number, width: number, run: { T: number } }} flow
 */
export const isSlanted = ({ side, width, run: { T } }) =>
  T * LEVEL > width - side && (T - 1) * SLANTED <= width - side - END - BEGIN;

/**
 * Where tokens stand. Where there are too many, those that a row looks at most, the first and the last.
 * @param {any} flow
 * @param {ArrayLike<number>} row of the last token
 * @returns {{ s: number, x: number }[]}
 */
export function feetOf({ side, width, run }, row) {
  const { T } = run;
  const room = width - side - END;
  const most = isSlanted({ side, width, run }) ? T : Math.max(Math.floor(room / LEVEL), 2);
  let places = Array.from({ length: T }, (_, s) => s);
  if (T > most) {
    const best = places
      .slice(1, -1)
      .sort((a, b) => row[b] - row[a] || a - b)
      .slice(0, most - 2);
    places = places.filter((s) => s === 0 || s === T - 1 || best.includes(s));
  }
  const pitch = (room - BEGIN) / Math.max(places.length - 1, 1);
  return places.map((s, i) => ({ s, x: places.length === 1 ? width - END : side + BEGIN + i * pitch }));
}

/** Weights below it are no line. */
const LEAST_WEIGHT = 0.05;

/**
 * Lines from tokens to a head that looks at them, beside its column.
 * @param {any} flow
 * @param {Place} head
 * @param {ArrayLike<number>} row
 * @param {number} feet
 */
export function attendedBy(flow, { layer, head }, row, feet) {
  const { parts, size, pad, height, toRight, middle, lineRoom } = flow;
  const node = parts.find(
    (/** @type {Node} */ part) => part.kind === 'head' && part.layer === layer && part.head === head,
  );
  if (!node) return [];
  const way = toRight(node) ? -1 : 1;
  const lane = middle(node.slot) + way * (size / 2 + pad + lineRoom * (3.5 / LANES));
  const y = node.y + size * 0.85;
  const track = height - feet + 12;
  return feetOf(flow, row)
    .filter(({ s }) => row[s] >= LEAST_WEIGHT)
    .sort((a, b) => row[a.s] - row[b.s])
    .map(({ s, x }) => {
      const points = [
        [node.x + (way > 0 ? size : 0), y],
        [lane, y],
        [lane, track],
        [x, track],
        [x, height - 25],
      ];
      return { s, d: bent(points, CORNER), width: 1 + 4 * row[s], points };
    });
}
