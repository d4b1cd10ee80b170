// Draws one head on a canvas, and finds the cell under a point.

export const FONT = '13px system-ui, sans-serif';
const GAP = 8;

/** Text no wider than the room for it. */
export function fit(context, text, room) {
  if (context.measureText(text).width <= room) return text;
  const signs = [...text];
  while (signs.length > 1 && context.measureText(`${signs.join('')}…`).width > room) signs.pop();
  return `${signs.join('')}…`;
}

/** Where everything lies, in CSS pixels, for a picture of these tokens within a width and a height. */
export function layOut(context, { queries, keys }, width, height) {
  context.font = FONT;
  const widest = (tokens) => Math.max(...tokens.map((token) => context.measureText(token).width));
  const left = Math.min(widest(queries), width * 0.22, 120) + GAP;
  const top = Math.min(widest(keys), 96) + GAP + 4;
  const cell = Math.max(Math.min((width - left - 1) / keys.length, (height - top - 1) / queries.length, 48), 2);
  return { left, top, cell, width: left + cell * keys.length + 1, height: top + cell * queries.length + 1 };
}

export function cellAt({ left, top, cell }, x, y, T, S) {
  const [query, key] = [Math.floor((y - top) / cell), Math.floor((x - left) / cell)];
  return query >= 0 && query < T && key >= 0 && key < S ? { query, key } : null;
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

/** One pixel a cell, enlarged without smoothing; hidden cells stay clear. */
function cellsOf({ weights, scores, T, S }, scale) {
  const picture = new OffscreenCanvas(S, T);
  const context = picture.getContext('2d');
  const image = context.createImageData(S, T);
  const pixels = new Uint32Array(image.data.buffer);
  for (let t = 0; t < T; t++) {
    const row = weights.subarray(t * S, (t + 1) * S);
    const unit = scale.perRow ? 1 / (row.reduce((a, b) => Math.max(a, b), 0) || 1) : 1;
    for (let s = 0; s < S; s++) pixels[t * S + s] = scores[t * S + s] === -Infinity ? 0 : scale.pixels[scale.index(row[s] * unit)];
  }
  context.putImageData(image, 0, 0);
  return picture;
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

function drawCells(context, head, scale, { left, top, cell }, colours) {
  const [width, height] = [cell * head.S, cell * head.T];
  hatch(context, left, top, width, height, colours.hatch);
  context.imageSmoothingEnabled = false;
  context.drawImage(cellsOf(head, scale), left, top, width, height);
}

function drawGrid(context, head, { left, top, cell }, colour) {
  if (cell < 10) return;
  const [width, height] = [cell * head.S, cell * head.T];
  context.strokeStyle = colour;
  context.lineWidth = 1;
  context.beginPath();
  for (let s = 0; s <= head.S; s++) {
    context.moveTo(left + s * cell, top);
    context.lineTo(left + s * cell, top + height);
  }
  for (let t = 0; t <= head.T; t++) {
    context.moveTo(left, top + t * cell);
    context.lineTo(left + width, top + t * cell);
  }
  context.stroke();
}

/** The large picture: cells, tokens on both axes, the cell being read. */
export function drawHead(canvas, head, { queries, keys, cell: read, scale, width, height, colours }) {
  const probe = canvas.getContext('2d');
  const places = layOut(probe, { queries, keys }, width, height);
  const context = prepare(canvas, places.width, places.height);
  const { left, top, cell } = places;
  drawCells(context, head, scale, places, colours);
  drawGrid(context, head, places, colours.grid);
  context.font = FONT;
  context.textBaseline = 'middle';
  // Where cells are too narrow for every label some are left out, but never that of the cell being read.
  const every = Math.ceil(15 / cell);
  const shown = (i, chosen) => i === chosen || (i % every === 0 && !(Math.abs(i - chosen) < every));
  queries.forEach((token, t) => {
    if (!shown(t, read?.query)) return;
    const on = read?.query === t;
    context.textAlign = 'right';
    context.fillStyle = on ? colours.query : colours.text;
    context.font = on ? `600 ${FONT}` : FONT;
    context.fillText(fit(context, token, left - GAP), left - GAP, top + (t + 0.5) * cell);
  });
  keys.forEach((token, s) => {
    if (!shown(s, read?.key)) return;
    const on = read?.key === s;
    context.save();
    context.translate(left + (s + 0.5) * cell, top - GAP);
    context.rotate(-Math.PI / 2);
    context.textAlign = 'left';
    context.fillStyle = on ? colours.key : colours.text;
    context.font = on ? `600 ${FONT}` : FONT;
    context.fillText(fit(context, token, top - GAP - 4), 0, 0);
    context.restore();
  });
  if (read && read.query < head.T && read.key < head.S) {
    context.lineWidth = 1.5;
    context.strokeStyle = colours.query;
    context.strokeRect(left, top + read.query * cell, cell * head.S, cell);
    context.strokeStyle = colours.key;
    context.strokeRect(left + read.key * cell, top, cell, cell * head.T);
    context.lineWidth = 2.5;
    context.strokeStyle = colours.ink;
    context.strokeRect(left + read.key * cell, top + read.query * cell, cell, cell);
  }
  return places;
}

/** A small picture: cells only, and the row being read. */
export function drawThumbnail(canvas, head, { cell: read, scale, size, colours }) {
  const cell = size / Math.max(head.S, head.T);
  const context = prepare(canvas, cell * head.S, cell * head.T);
  drawCells(context, head, scale, { left: 0, top: 0, cell }, colours);
  if (read && read.query < head.T) {
    context.lineWidth = 1;
    context.strokeStyle = colours.query;
    context.strokeRect(0.5, read.query * cell, cell * head.S - 1, Math.max(cell, 2));
  }
}

/** The colours of a scale from its least to its greatest value, left to right. */
export function drawLegend(canvas, scale, width, height) {
  const context = prepare(canvas, width, height);
  for (let x = 0; x < width; x++) {
    context.fillStyle = `rgb(${scale.colour(scale.valueAt(x / (width - 1))).join(' ')})`;
    context.fillRect(x, 0, 1, height);
  }
}
