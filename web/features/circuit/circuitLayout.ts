// The layout of a circuit: tokens at the bottom, layers upward, the prediction at the top. Layers without heads and
// MLPs of the circuit are thin.

import type { ShownLine } from '../../model/circuit/shownLines.ts';
import { bent, CORNER } from '../flow/flowLines.ts';
import { columnsOf, widthOf } from './circuitColumns.ts';
import { footOf, type Part, PORTS, partKey, partsOf } from './circuitNodes.ts';
import { heightOf, pointsOf, routesOf, tracksOf } from './circuitRoutes.ts';
import { figuresOf } from './lineFigures.ts';
export type Box = Part & { x: number; y: number; width: number; height: number; row: number };
export type Row = { layer: number; kind: 'head' | 'mlp' | 'none'; parts: Part[] };
export type DrawnLine = ShownLine & {
  d: string;
  points: number[][];
  width: number;
  oldWidth: number | null;
  colour: string;
  foot: number;
  figure: { x: number; y: number } | null;
};
export type CircuitInput = {
  lines: readonly ShownLine[];
  /** all edges, which determine the token above which each head or MLP is drawn */
  all: readonly ShownLine[];
  roleOf: (head: { layer: number; head: number }) => { text: string; width: number } | null;
  layers: number;
  /** number of heads that share their keys and values */
  perGroup: number;
  /** widths of the tokens' texts */
  words: number[];
  width: number;
  height: number;
  /** pixels above the topmost line */
  top: number;
  /** pixels for the tokens */
  bottom: number;
  /** pixels for the names of layers */
  side: number;
  /** height of the letters of numbers */
  letter: number;
  /** width of an MLP */
  pill: number;
};

/** Maximum (not in a high drawing) and minimum size of a thumbnail, height of an MLP, and of a layer without either. */
const [MAX_SIZE, MIN_SIZE, PILL, THIN] = [46, 22, 22, 13];
/** The size of thumbnails in a high drawing, and the most spare room that a gap gets, as a share of the height. */
const SHARE = 0.065;
/** Maximum and minimum width of a line, and the least cost in percentage points that the maximum width represents. */
const [MAX_WIDTH, MIN_WIDTH, MIN_POINTS] = [13, 1.5, 20];
/** Minimum pixels of a gap between rows, and from the end of a line to a head or MLP. */
const [GAP, TOUCH] = [12, 5];

/** The gaps between rows may shrink to this share of the height that they need. */
const MIN_GAPS = 0.72;

/** Returns possible sizes of thumbnails, the largest first; whole pixels per token if there are few tokens. */
function sizesFor(tokens: number, height: number) {
  const most = Math.max(MAX_SIZE, Math.round(SHARE * height));
  const all = Array.from({ length: most - MIN_SIZE + 1 }, (_, i) => most - i);
  const whole = all.filter((size) => size % tokens === 0);
  return whole.length > 0 ? [...whole, MIN_SIZE] : all.filter((size) => size % 4 === 0);
}

/** Returns the rows from the bottom upward. */
function rowsOf(parts: readonly Part[], layers: number): Row[] {
  const rowsIn: (layer: number) => Row[] = (layer) => {
    const rows = (['head', 'mlp'] as const)
      .map((kind) => ({ layer, kind, parts: parts.filter((part) => part.kind === kind && part.layer === layer) }))
      .filter((row) => row.parts.length > 0);
    return rows.length > 0 ? rows : [{ layer, kind: 'none', parts: [] }];
  };
  return Array.from({ length: layers }, (_, layer) => layer).flatMap(rowsIn);
}

/** Returns the colour of an edge, which depends on the kind of input at which the edge ends. */
const colourOf = ({ kind }: ShownLine['to']) => (kind === 'logits' ? 'data' : kind);

export function layoutOf(input: CircuitInput) {
  const { lines, all, layers, perGroup, words, height, top, bottom } = input;
  const parts = partsOf(lines, all, { tokens: words.length, perGroup });
  const rows = rowsOf(parts, layers);
  const most = Math.max(MIN_POINTS, ...lines.map(({ cost, was }) => Math.max(-cost, -(was ?? 0))));
  const widthFor = (cost: number) => Math.max((-cost / most) * MAX_WIDTH, MIN_WIDTH);
  const room = height - top - bottom;
  const sizes = sizesFor(words.length, height);
  let size = sizes[0];
  let placed = place(input, parts, rows, size, widthFor);
  for (const smaller of sizes.slice(1)) {
    if (placed.rowsHeight + MIN_GAPS * placed.gaps <= room) break;
    size = smaller;
    placed = place(input, parts, rows, size, widthFor);
  }
  const { boxes, columns, tracks, routes, footFor } = placed;
  const ys = rowPlaces(rows, tracks, size, { room, floor: height - bottom });
  for (const box of boxes.values()) box.y = ys.rows[box.row].y;
  const drawn = routes.map((route) => {
    const line = lines.find(({ name }) => name === route.name) as ShownLine;
    const [from, to] = [line.from, line.to].map((node) => boxes.get(partKey(node, perGroup) ?? ''));
    const start = from ? from.y - 1 : height - bottom;
    const end = to ? to.y + to.height + TOUCH - 3 : top;
    const points = pointsOf(route, (one, gap) => ys.yOf(one.name, gap), start, end);
    const oldWidth = line.was === null ? null : widthFor(line.was);
    return {
      ...{ ...line, points, d: bent(points, CORNER), colour: colourOf(line.to), oldWidth, foot: footFor(line) },
      width: line.isCut && oldWidth ? oldWidth : widthFor(line.cost),
    };
  });
  const heads = [...boxes.values()].filter(({ kind }) => kind === 'head');
  const roles = heads.flatMap((box) => {
    const { text = '', width = 0 } = input.roleOf(box) ?? {};
    return text ? [{ key: box.key, box, width, text }] : [];
  });
  const figures = figuresOf(drawn, [...boxes.values()], roles, {
    left: input.side,
    right: input.width,
    letter: input.letter,
  });
  return {
    size,
    columns,
    boxes: [...boxes.values()],
    roles: roles.flatMap(({ key, text }) => {
      const at = figures.get(key);
      return at ? [{ key, text, ...at }] : [];
    }),
    rows: ys.names,
    lines: drawn.map((line) => ({ ...line, figure: figures.get(line.name) ?? null })) as DrawnLine[],
    target: columns.columns[words.length - 1].x,
  };
}
export type CircuitLayout = ReturnType<typeof layoutOf>;

/** Returns the columns of heads and MLPs and the routes of lines, before their heights are known. */
function place(
  { lines, words, width, side, pill, perGroup }: CircuitInput,
  parts: readonly Part[],
  rows: readonly Row[],
  size: number,
  widthFor: (cost: number) => number,
) {
  const widthOfPart = ({ kind }: Part) => (kind === 'mlp' ? pill : size);
  const seenBy = new Map(parts.map(({ key, token }) => [key, token]));
  const footFor = (line: ShownLine) => footOf(line, seenBy.get(partKey(line.to, perGroup) ?? ''));
  const feet = lines.filter(({ from }) => from.kind === 'embed').map(footFor);
  const columns = columnsOf({ words, parts: [...parts], feet, widthOfPart, left: side, right: width - 6 });
  const boxes: Map<string, Box> = new Map();
  rows.forEach((row, r) => {
    for (const t of new Set(row.parts.map(({ token }) => token))) {
      const list = row.parts.filter(({ token }) => token === t).sort((a, b) => a.head - b.head);
      const whole = widthOf(list.map(widthOfPart));
      const { x: middle, before } = columns.columns[t];
      const heads = parts.filter(({ kind, token }) => kind === 'head' && token === t).length > 0 ? size / 2 + 14 : 0;
      let x = row.kind === 'mlp' && before > 0 ? middle - heads - whole : middle - whole / 2;
      for (const part of list) {
        const w = widthOfPart(part);
        boxes.set(part.key, { ...part, x, y: 0, width: w, height: row.kind === 'mlp' ? PILL : size, row: r });
        x += w + 14;
      }
    }
  });
  const ways = waysOf({ lines, rows: rows.length, boxes, perGroup, widthFor, columns, footFor });
  const spans = rows.map((_, r) =>
    [...boxes.values()].filter(({ row }) => row === r).map(({ x, width: w }) => ({ left: x, right: x + w })),
  );
  const routes = routesOf(ways, spans, { left: side, right: width });
  const tracks = tracksOf(routes, rows.length + 1);
  const rowsHeight = rows.reduce((sum, { kind }) => sum + rowHeight(kind, size), 0);
  const gaps = tracks.reduce((sum, one) => sum + gapOf(one), 0);
  return { boxes, columns, tracks, routes, footFor, rowsHeight, gaps };
}

const rowHeight = (kind: Row['kind'], size: number) => ({ head: size, mlp: PILL, none: THIN })[kind];
const gapOf = (tracks: ReturnType<typeof tracksOf>[number]) =>
  tracks.length > 0 ? heightOf(tracks) + 2 * TOUCH + 2 : GAP;

/** Returns the ends of lines: at a head's base query, key, value from left to right; at its top ordered by target. */
function waysOf({
  lines,
  rows,
  boxes,
  perGroup,
  widthFor,
  columns,
  footFor,
}: {
  lines: readonly ShownLine[];
  rows: number;
  boxes: Map<string, Box>;
  perGroup: number;
  widthFor: (cost: number) => number;
  columns: ReturnType<typeof columnsOf>;
  footFor: (line: ShownLine) => number;
}) {
  const list = lines.map((line) => {
    const [from, to] = [line.from, line.to].map((node) => boxes.get(partKey(node, perGroup) ?? ''));
    const foot = columns.columns[footFor(line)].x;
    return {
      ...{ name: line.name, line, source: from, target: to, foot },
      width: Math.max(widthFor(line.cost), line.was === null ? 0 : widthFor(line.was)),
      ...{ low: from ? from.row + 1 : 0, high: to ? to.row : rows, from: 0, to: 0 },
      near: from ? from.x + from.width / 2 : foot,
      far: to ? to.x + to.width / 2 : columns.columns[columns.columns.length - 1].x,
    };
  });
  type End = (typeof list)[number];
  const groups = (key: (end: End) => string) => {
    const found: Map<string, End[]> = new Map();
    for (const end of list) found.set(key(end), [...(found.get(key(end)) ?? []), end]);
    return [...found.values()];
  };
  const port = ({ line: { to } }: End) => PORTS.indexOf(to.kind as 'query');
  for (const ends of groups(({ target }) => target?.key ?? 'guess')) {
    const box = ends[0].target;
    ends.sort((a, b) => port(a) - port(b) || a.near - b.near);
    const middle = (end: End) => (box && port(end) >= 0 ? box.x + box.width * [0.2, 0.5, 0.8][port(end)] : end.far);
    spread(ends, middle, box).forEach((x, i) => void (ends[i].to = x));
  }
  for (const ends of groups(({ source, foot }) => source?.key ?? `foot${foot}`)) {
    ends.sort((a, b) => a.far - b.far);
    const box = ends[0].source;
    // A line has no corner if its upper end is above the head or MLP at which it begins.
    const middle = (end: End) => (box && end.to > box.x + 3 && end.to < box.x + box.width - 3 ? end.to : end.near);
    ends.sort((a, b) => middle(a) - middle(b) || a.far - b.far);
    spread(ends, middle, box).forEach((x, i) => void (ends[i].from = x));
  }
  return list;
}

/** Returns the x of lines side by side inside `box`, each as near as possible to the x that `wanted` returns. */
function spread<End extends { width: number }>(
  ends: readonly End[],
  wanted: (end: End) => number,
  box: { x: number; width: number } | undefined,
) {
  const whole = ends.reduce((sum, { width }) => sum + width, 0);
  const apart = box ? Math.max(Math.min((box.width - whole) / Math.max(ends.length, 1), 3), 0.5) : 3;
  const places: number[] = [];
  ends.forEach((end, i) => {
    const least = i === 0 ? -Infinity : places[i - 1] + ends[i - 1].width / 2 + apart + end.width / 2;
    places.push(Math.max(wanted(end), least));
  });
  // The lines are shifted so that their mean distance from the wanted x is 0, then into the box of the head or MLP.
  const shift = ends.reduce((sum, end, i) => sum + wanted(end) - places[i], 0) / Math.max(ends.length, 1);
  const first = places[0] + shift - ends[0].width / 2;
  const last = places[places.length - 1] + shift + ends[ends.length - 1].width / 2;
  const inside = box ? Math.max(box.x - first, Math.min(box.x + box.width - last, 0)) : 0;
  return places.map((x) => x + shift + inside);
}

/** Returns the heights of rows and lines, from the tokens upward. Spare room is divided between the gaps. */
function rowPlaces(
  rows: readonly Row[],
  tracks: ReturnType<typeof tracksOf>,
  size: number,
  { room, floor }: { room: number; floor: number },
) {
  const gaps = tracks.map(gapOf);
  const heights = rows.map(({ kind }) => rowHeight(kind, size));
  const sum = (list: number[]) => list.reduce((a, b) => a + b, 0);
  const spare = room - sum(gaps) - sum(heights);
  const scale = spare < 0 ? Math.max((room - sum(heights)) / sum(gaps), 0.3) : 1;
  const more = spare > 0 ? Math.min(spare / gaps.length, Math.max(SHARE * room, 40)) : 0;
  const alongs: Map<string, number> = new Map();
  const places: { y: number; height: number }[] = [];
  let y = floor;
  gaps.forEach((gap, g) => {
    const whole = gap * scale + more;
    let at = y - TOUCH * scale - (whole - gap * scale) / 2;
    for (const { list, height } of tracks[g]) {
      for (const { route } of list) alongs.set(`${route.name} ${g}`, at - (height / 2) * scale);
      at -= (height + 4) * scale;
    }
    y -= whole;
    if (g === rows.length) return;
    places.push({ y: y - heights[g], height: heights[g] });
    y -= heights[g];
  });
  const names = rows
    .map(({ layer, kind }, r) => ({ layer, isThin: kind === 'none', y: places[r].y + places[r].height / 2 }))
    .filter(({ layer }, i, all) => i === 0 || all[i - 1].layer !== layer);
  return {
    rows: places,
    names,
    yOf: (name: string, gap: number) => alongs.get(`${name} ${gap}`) ?? null,
  };
}
