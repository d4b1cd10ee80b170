// Draws the weights of one head on a canvas, and finds the cell under a point.

import { largest, NOT_FINITE } from '../model/shrink.js';

export const FONT = '13px system-ui, sans-serif';
const GAP = 8;
/** Cells are square, but where a side of the whole picture would be shorter than this. */
const LEAST_SIDE = 48;
const LARGEST = 48;
/** Room that a label needs along its axis. */
const LABEL = 15;
const LINE = 14;

/** Text no wider than the room for it. */
export function fit(context, text, room) {
  if (context.measureText(text).width <= room) return text;
  const signs = [...text];
  while (signs.length > 1 && context.measureText(`${signs.join('')}…`).width > room) signs.pop();
  return `${signs.join('')}…`;
}

/** Labels that are looked at to find the widest: all of thousands would take longer than the drawing. */
const MOST_MEASURED = 200;

/** The widest labels of a part of some tokens. */
const widths = new WeakMap();

function widest(context, tokens, { from, to }) {
  const key = `${from} ${to}`;
  const known = widths.get(tokens);
  if (known?.key === key) return known.most;
  // Bold is wider: a token must not be cut because it is chosen.
  context.font = `600 ${FONT}`;
  let most = 0;
  for (let i = from, step = Math.ceil((to - from) / MOST_MEASURED); i < to; i += step)
    most = Math.max(most, context.measureText(tokens[i]).width);
  widths.set(tokens, { key, most });
  return most;
}

/** Where everything lies, in CSS pixels, for a picture of a region of these tokens within a width and a height. */
export function layOut(context, { queries, keys, region }, width, height) {
  const left = Math.min(widest(context, queries, region.queries), width * 0.22, 120) + GAP;
  const longest = widest(context, keys, region.keys);
  const [T, S] = [region.queries.to - region.queries.from, region.keys.to - region.keys.from];
  const across = (width - left - 1) / S;
  // Labels of keys lie down where they would not fit side by side.
  const upright = Math.min(across, (height - LINE) / T, LARGEST) > longest + 2;
  const top = (upright ? LINE : Math.min(longest, 96) + 4) + GAP;
  const down = (height - top - 1) / T;
  const cell = Math.min(across, down, LARGEST);
  const [cellWidth, cellHeight] = [
    Math.max(cell, Math.min(across, LEAST_SIDE / S)),
    Math.max(cell, Math.min(down, LEAST_SIDE / T)),
  ];
  return {
    left,
    top,
    cellWidth,
    cellHeight,
    upright,
    region,
    T,
    S,
    width: left + cellWidth * S + 1,
    height: top + cellHeight * T + 1,
  };
}

export function cellAt({ left, top, cellWidth, cellHeight, region, T, S }, x, y) {
  const [row, column] = [Math.floor((y - top) / cellHeight), Math.floor((x - left) / cellWidth)];
  return row >= 0 && row < T && column >= 0 && column < S
    ? { query: region.queries.from + row, key: region.keys.from + column }
    : null;
}

/** A canvas of this size in CSS pixels, sharp on this screen. */
export function prepare(canvas, width, height) {
  const ratio = globalThis.devicePixelRatio || 1;
  const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== w || canvas.height !== h) {
    canvas.width = w;
    canvas.height = h;
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
  }
  const context = canvas.getContext('2d');
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return context;
}

/** What each canvas shows, coloured: the pointer moves more often than that changes. */
const coloured = new WeakMap();

/** One pixel a cell; hidden cells stay clear. */
function cellsOf(canvas, { rows, columns, values }, scale) {
  let known = coloured.get(canvas);
  if (known?.values === values && known.key === scale.key) return known;
  if (known?.picture.width !== columns || known?.picture.height !== rows) {
    const picture = new OffscreenCanvas(columns, rows);
    const context = /** @type {OffscreenCanvasRenderingContext2D} */ (picture.getContext('2d'));
    const image = context.createImageData(columns, rows);
    known = { picture, context, image, pixels: new Uint32Array(image.data.buffer) };
    coloured.set(canvas, known);
  }
  const hidden = paintCells(known.pixels, { rows, columns, values }, scale);
  known.context.putImageData(known.image, 0, 0);
  return Object.assign(known, { values, key: scale.key, hidden });
}

/** Whether any cell is hidden. */
function paintCells(pixels, { rows, columns, values }, scale) {
  let hidden = false;
  for (let r = 0; r < rows; r++) {
    const [from, to] = [r * columns, (r + 1) * columns];
    let unit = 1;
    if (scale.perRow) {
      unit = 1 / (largest(values.subarray(from, to)) || 1);
    }
    for (let i = from; i < to; i++) {
      const value = values[i];
      if (Number.isNaN(value)) {
        pixels[i] = 0;
        hidden = true;
      } else pixels[i] = value === NOT_FINITE ? scale.notFinite.pixel : scale.pixels[scale.index(value * unit)];
    }
  }
  return hidden;
}

/** Diagonal lines: what is hidden is not the same as 0. */
function hatch(context, x, y, width, height, colour) {
  context.save();
  context.beginPath();
  context.rect(x, y, width, height);
  context.clip();
  context.beginPath();
  for (let d = -height; d < width; d += 6) {
    context.moveTo(x + d, y + height);
    context.lineTo(x + d + height, y);
  }
  context.strokeStyle = colour;
  context.lineWidth = 1;
  context.stroke();
  context.restore();
}

function drawCells(context, cells, scale, { left, top, width, height }, colour) {
  const { picture, hidden } = cellsOf(context.canvas, cells, scale);
  if (hidden) hatch(context, left, top, width, height, colour);
  context.imageSmoothingEnabled = false;
  context.drawImage(picture, left, top, width, height);
}

function drawGrid(context, { left, top, cellWidth, cellHeight, T, S }, colour) {
  if (Math.min(cellWidth, cellHeight) < 10) return;
  context.strokeStyle = colour;
  context.lineWidth = 1;
  context.beginPath();
  for (let s = 0; s <= S; s++) {
    context.moveTo(left + s * cellWidth, top);
    context.lineTo(left + s * cellWidth, top + T * cellHeight);
  }
  for (let t = 0; t <= T; t++) {
    context.moveTo(left, top + t * cellHeight);
    context.lineTo(left + S * cellWidth, top + t * cellHeight);
  }
  context.stroke();
}

function drawLabels(
  context,
  { left, top, cellWidth, cellHeight, upright, region },
  { queries, keys },
  read,
  also,
  colours,
) {
  // Where cells are too narrow for every label some are left out, but never those of the cell being read.
  const shown = (i, from, chosen, every) =>
    chosen.includes(i) || ((i - from) % every === 0 && chosen.every((c) => Math.abs(i - c) >= every));
  let bold = false;
  context.font = FONT;
  const style = (on, colour) => {
    context.fillStyle = on ? colour : colours.text;
    if (on !== bold) context.font = on ? `600 ${FONT}` : FONT;
    bold = on;
  };
  context.textBaseline = 'middle';
  context.textAlign = 'right';
  const [rows, columns] = [[...(read ? [read.query] : []), ...also], read ? [read.key] : []];
  const { from: q0, to: q1 } = region.queries;
  for (let t = q0, every = Math.ceil(LABEL / cellHeight); t < q1; t++) {
    if (!shown(t, q0, rows, every)) continue;
    style(rows.includes(t), colours.query);
    context.fillText(fit(context, queries[t], left - GAP), left - GAP, top + (t - q0 + 0.5) * cellHeight);
  }
  context.textAlign = upright ? 'center' : 'left';
  const { from: k0, to: k1 } = region.keys;
  for (let s = k0, every = Math.ceil(LABEL / cellWidth); s < k1; s++) {
    if (!shown(s, k0, columns, every)) continue;
    style(columns.includes(s), colours.key);
    context.save();
    context.translate(left + (s - k0 + 0.5) * cellWidth, top - GAP);
    if (upright) context.translate(0, GAP - LINE / 2 - 2);
    else context.rotate(-Math.PI / 2);
    context.fillText(fit(context, keys[s], upright ? cellWidth : top - GAP - 4), 0, 0);
    context.restore();
  }
}

/** The rows that are marked, and row, column and cell of what is read. */
function drawMarks(context, { left, top, cellWidth, cellHeight, region, T, S }, read, also, colours) {
  const frame = (t, s, rows, columns, colour, line) => {
    context.lineWidth = line;
    context.strokeStyle = colour;
    context.strokeRect(
      left + s * cellWidth,
      top + t * cellHeight,
      Math.max(columns * cellWidth, 1),
      Math.max(rows * cellHeight, 1),
    );
  };
  const inside = (i, { from, to }) => i >= from && i < to;
  for (const query of also)
    if (inside(query, region.queries)) frame(query - region.queries.from, 0, 1, S, colours.query, 1);
  if (!read || !inside(read.query, region.queries) || !inside(read.key, region.keys)) return;
  const [t, s] = [read.query - region.queries.from, read.key - region.keys.from];
  const line = Math.min(cellWidth, cellHeight) < 3 ? 0.75 : 1.5;
  frame(t, 0, 1, S, colours.query, line);
  frame(0, s, T, 1, colours.key, line);
  frame(t, s, 1, 1, colours.ink, line + 1);
}

/** The large picture: cells, tokens on both axes, the cell being read. */
export function drawHead(canvas, picture, { queries, keys, cell: read, also, scale, width, height, colours }) {
  const places = layOut(canvas.getContext('2d'), { queries, keys, region: picture.region }, width, height);
  const context = prepare(canvas, places.width, places.height);
  drawCells(
    context,
    picture,
    scale,
    { ...places, width: places.cellWidth * places.S, height: places.cellHeight * places.T },
    colours.hatch,
  );
  drawGrid(context, places, colours.grid);
  drawLabels(context, places, { queries, keys }, read, also, colours);
  drawMarks(context, places, read, also, colours);
  return places;
}

/** A small picture: cells only, and the rows being read. */
export function drawThumbnail(canvas, { rows, columns, values }, { marked, T, S, scale, size, colours }) {
  const cell = size / Math.max(T, S);
  const [width, height] = [Math.max(cell * S, 3), Math.max(cell * T, 3)];
  const context = prepare(canvas, width, height);
  drawCells(context, { rows, columns, values }, scale, { left: 0, top: 0, width, height }, colours.hatch);
  context.lineWidth = 1;
  context.strokeStyle = colours.query;
  for (const query of marked) if (query < T) context.strokeRect(0.5, query * cell, width - 1, Math.max(cell, 2));
}

/** The colours of a scale from its least to its greatest value, left to right. */
export function drawLegend(canvas, scale, width, height) {
  const context = prepare(canvas, width, height);
  for (let x = 0; x < width; x++) {
    context.fillStyle = `rgb(${scale.colour(scale.valueAt(x / (width - 1))).join(' ')})`;
    context.fillRect(x, 0, 1, height);
  }
}
