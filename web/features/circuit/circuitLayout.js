// The layout of a circuit: tokens at the bottom, layers upward, the prediction at the top. Layers without heads and
// MLPs of the circuit are thin.

import { bent, CORNER } from '../flow/flowLines.js';
import { columnsOf, widthOf } from './circuitColumns.js';
import { footOf, PORTS, partKey, partsOf } from './circuitNodes.js';
import { heightOf, pointsOf, routesOf, tracksOf } from './circuitRoutes.js';
import { figuresOf } from './lineFigures.js';

/** @import { Part } from './circuitNodes.js' */
/** @import { ShownLine } from './shownLines.js' */
/** @typedef {Part & { x: number, y: number, width: number, height: number, row: number }} Box */
/** @typedef {{ layer: number, kind: 'head' | 'mlp' | 'none', parts: Part[] }} Row */
/**
 * @typedef {ShownLine & { d: string, points: number[][], width: number, oldWidth: number | null, colour: string,
 *   foot: number, figure: { x: number, y: number } | null }} DrawnLine
 */
/**
 * @typedef {object} CircuitInput
 * @property {readonly ShownLine[]} lines edges that are drawn
 * @property {readonly ShownLine[]} all all edges, which determine the token above which each head or MLP is drawn
 * @property {(head: { layer: number, head: number }) => { text: string, width: number } | null} roleOf
 * @property {number} layers
 * @property {number} perGroup number of heads that share their keys and values
 * @property {number[]} words widths of the tokens' texts
 * @property {number} width
 * @property {number} height
 * @property {number} top pixels above the topmost line
 * @property {number} bottom pixels for the tokens
 * @property {number} side pixels for the names of layers
 * @property {number} letter height of the letters of numbers
 * @property {number} pill width of an MLP
 */

/**
 * Maximum and minimum size of a thumbnail, height of an MLP, and height of a layer without heads and MLPs of the
 * circuit. Thumbnails have the largest size that fits. In a high drawing this can be more than the maximum.
 */
const [MAX_SIZE, MIN_SIZE, PILL, THIN] = [46, 22, 22, 13];
/** The size of thumbnails in a high drawing, and the most spare room that a gap gets, as a share of the height. */
const SHARE = 0.065;
/** Maximum and minimum width of a line, and the least cost in percentage points that the maximum width represents. */
const [MAX_WIDTH, MIN_WIDTH, MIN_POINTS] = [13, 1.5, 20];
/** Minimum pixels of a gap between rows, and from the end of a line to a head or MLP. */
const [GAP, TOUCH] = [12, 5];

/** The gaps between rows may shrink to this share of the height that they need. */
const MIN_GAPS = 0.72;

/**
 * Returns possible sizes of thumbnails, the largest first. If there are few tokens each token has a whole number of
 * pixels.
 * @param {number} tokens @param {number} height of the drawing
 */
function sizesFor(tokens, height) {
  const most = Math.max(MAX_SIZE, Math.round(SHARE * height));
  const all = Array.from({ length: most - MIN_SIZE + 1 }, (_, i) => most - i);
  const whole = all.filter((size) => size % tokens === 0);
  return whole.length > 0 ? [...whole, MIN_SIZE] : all.filter((size) => size % 4 === 0);
}

/** @param {readonly Part[]} parts @param {number} layers @returns {Row[]} from the bottom upward */
function rowsOf(parts, layers) {
  /** @type {(layer: number) => Row[]} */
  const rowsIn = (layer) => {
    const rows = /** @type {const} */ (['head', 'mlp'])
      .map((kind) => ({ layer, kind, parts: parts.filter((part) => part.kind === kind && part.layer === layer) }))
      .filter((row) => row.parts.length > 0);
    return rows.length > 0 ? rows : [{ layer, kind: 'none', parts: [] }];
  };
  return Array.from({ length: layers }, (_, layer) => layer).flatMap(rowsIn);
}

/**
 * Returns the colour of an edge, which depends on the kind of input at which the edge ends.
 * @param {ShownLine['to']} to
 */
const colourOf = ({ kind }) => (kind === 'logits' ? 'data' : kind);

/** @param {CircuitInput} input */
export function layoutOf(input) {
  const { lines, all, layers, perGroup, words, height, top, bottom } = input;
  const parts = partsOf(lines, all, { tokens: words.length, perGroup });
  const rows = rowsOf(parts, layers);
  const most = Math.max(MIN_POINTS, ...lines.map(({ cost, was }) => Math.max(-cost, -(was ?? 0))));
  const widthFor = (/** @type {number} */ cost) => Math.max((-cost / most) * MAX_WIDTH, MIN_WIDTH);
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
    const line = /** @type {ShownLine} */ (lines.find(({ name }) => name === route.name));
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
    lines: /** @type {DrawnLine[]} */ (drawn.map((line) => ({ ...line, figure: figures.get(line.name) ?? null }))),
    target: columns.columns[words.length - 1].x,
  };
}
/** @typedef {ReturnType<typeof layoutOf>} CircuitLayout */

/**
 * Returns the columns of heads and MLPs and the routes of lines, before their heights are known.
 * @param {CircuitInput} input
 * @param {readonly Part[]} parts
 * @param {readonly Row[]} rows
 * @param {number} size
 * @param {(cost: number) => number} widthFor
 */
function place({ lines, words, width, side, pill, perGroup }, parts, rows, size, widthFor) {
  const widthOfPart = (/** @type {Part} */ { kind }) => (kind === 'mlp' ? pill : size);
  const seenBy = new Map(parts.map(({ key, token }) => [key, token]));
  const footFor = (/** @type {ShownLine} */ line) => footOf(line, seenBy.get(partKey(line.to, perGroup) ?? ''));
  const feet = lines.filter(({ from }) => from.kind === 'embed').map(footFor);
  const columns = columnsOf({ words, parts: [...parts], feet, widthOfPart, left: side, right: width - 6 });
  /** @type {Map<string, Box>} */
  const boxes = new Map();
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

const rowHeight = (/** @type {Row['kind']} */ kind, /** @type {number} */ size) =>
  ({ head: size, mlp: PILL, none: THIN })[kind];
const gapOf = (/** @type {ReturnType<typeof tracksOf>[number]} */ tracks) =>
  tracks.length > 0 ? heightOf(tracks) + 2 * TOUCH + 2 : GAP;

/**
 * Returns the ends of lines. Lines into a head end at its base, with those to the query on the left, those to the key
 * in the middle, and those to the value on the right. Lines from a head begin at its top, in the order of their
 * targets.
 * @param {object} input
 * @param {readonly ShownLine[]} input.lines
 * @param {number} input.rows
 * @param {Map<string, Box>} input.boxes
 * @param {number} input.perGroup
 * @param {(cost: number) => number} input.widthFor
 * @param {ReturnType<typeof columnsOf>} input.columns
 * @param {(line: ShownLine) => number} input.footFor
 */
function waysOf({ lines, rows, boxes, perGroup, widthFor, columns, footFor }) {
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
  /** @typedef {typeof list[number]} End */
  const groups = (/** @type {(end: End) => string} */ key) => {
    /** @type {Map<string, End[]>} */
    const found = new Map();
    for (const end of list) found.set(key(end), [...(found.get(key(end)) ?? []), end]);
    return [...found.values()];
  };
  const port = (/** @type {End} */ { line: { to } }) => PORTS.indexOf(/** @type {'query'} */ (to.kind));
  for (const ends of groups(({ target }) => target?.key ?? 'guess')) {
    const box = ends[0].target;
    ends.sort((a, b) => port(a) - port(b) || a.near - b.near);
    const middle = (/** @type {End} */ end) =>
      box && port(end) >= 0 ? box.x + box.width * [0.2, 0.5, 0.8][port(end)] : end.far;
    spread(ends, middle, box).forEach((x, i) => void (ends[i].to = x));
  }
  for (const ends of groups(({ source, foot }) => source?.key ?? `foot${foot}`)) {
    ends.sort((a, b) => a.far - b.far);
    const box = ends[0].source;
    // A line has no corner if its upper end is above the head or MLP at which it begins.
    const middle = (/** @type {End} */ end) =>
      box && end.to > box.x + 3 && end.to < box.x + box.width - 3 ? end.to : end.near;
    ends.sort((a, b) => middle(a) - middle(b) || a.far - b.far);
    spread(ends, middle, box).forEach((x, i) => void (ends[i].from = x));
  }
  return list;
}

/**
 * Returns the x of lines side by side, each as near as possible to the x that `wanted` returns.
 * @template {{ width: number }} End
 * @param {readonly End[]} ends
 * @param {(end: End) => number} wanted
 * @param {{ x: number, width: number } | undefined} box box within which all lines stay
 */
function spread(ends, wanted, box) {
  const whole = ends.reduce((sum, { width }) => sum + width, 0);
  const apart = box ? Math.max(Math.min((box.width - whole) / Math.max(ends.length, 1), 3), 0.5) : 3;
  /** @type {number[]} */
  const places = [];
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

/**
 * Returns the heights of rows and lines, from the tokens upward. Spare room is divided between the gaps.
 * @param {readonly Row[]} rows
 * @param {ReturnType<typeof tracksOf>} tracks
 * @param {number} size
 * @param {{ room: number, floor: number }} area
 */
function rowPlaces(rows, tracks, size, { room, floor }) {
  const gaps = tracks.map(gapOf);
  const heights = rows.map(({ kind }) => rowHeight(kind, size));
  const sum = (/** @type {number[]} */ list) => list.reduce((a, b) => a + b, 0);
  const spare = room - sum(gaps) - sum(heights);
  const scale = spare < 0 ? Math.max((room - sum(heights)) / sum(gaps), 0.3) : 1;
  const more = spare > 0 ? Math.min(spare / gaps.length, Math.max(SHARE * room, 40)) : 0;
  /** @type {Map<string, number>} */
  const alongs = new Map();
  /** @type {{ y: number, height: number }[]} */
  const places = [];
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
    yOf: (/** @type {string} */ name, /** @type {number} */ gap) => alongs.get(`${name} ${gap}`) ?? null,
  };
}
