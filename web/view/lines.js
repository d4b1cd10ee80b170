// The sentence twice, side by side, with lines from a query to the keys that it attends to.

import { FONT, fit, prepare } from './heatmap.js';

const MARGIN = 6;
const ROWS = { most: 24, least: 14, roomy: 30 };

export function layOutLines(context, { queries, keys }, width) {
  // Bold is wider: a token must not be cut because it is chosen.
  context.font = `600 ${FONT}`;
  const widest = (tokens) => tokens.reduce((most, token) => Math.max(most, context.measureText(token).width), 0);
  const column = (tokens) => Math.min(widest(tokens), width * 0.3, 180) + MARGIN;
  const count = Math.max(queries.length, keys.length);
  const row = Math.max(Math.min(ROWS.most, (ROWS.most * ROWS.roomy) / Math.max(count, 1)), ROWS.least);
  const left = column(queries);
  return {
    left,
    right: Math.max(Math.min(width - column(keys), left + 420), left + 40),
    top: MARGIN,
    row,
    width,
    height: count * row + 2 * MARGIN,
  };
}

/** @returns {{ side: 'query' | 'key', index: number } | null} */
export function tokenAt({ left, right, top, row, width, height }, x, y, T, S) {
  if (x < 0 || x > width || y < top || y > height) return null;
  const side = x < (left + right) / 2 ? 'query' : 'key';
  const index = Math.floor((y - top) / row);
  return index < (side === 'query' ? T : S) ? { side, index } : null;
}

function drawLink(context, { left, right, top, row }, { query, key }, { colour, width, alpha }) {
  const [from, to, bend] = [top + (query + 0.5) * row, top + (key + 0.5) * row, (right - left) * 0.45];
  context.globalAlpha = alpha;
  context.strokeStyle = colour;
  context.lineWidth = width;
  context.beginPath();
  context.moveTo(left + MARGIN, from);
  context.bezierCurveTo(left + bend, from, right - bend, to, right - MARGIN, to);
  context.stroke();
  context.globalAlpha = 1;
}

function drawTokens(context, tokens, { x, align, room, layout, style }) {
  context.textAlign = align;
  context.textBaseline = 'middle';
  tokens.forEach((token, i) => {
    const { colour, bold, alpha = 1 } = style(i);
    context.globalAlpha = alpha;
    context.fillStyle = colour;
    context.font = bold ? `600 ${FONT}` : FONT;
    context.fillText(fit(context, token, room), x, layout.top + (i + 0.5) * layout.row);
  });
  context.globalAlpha = 1;
}

/**
 * @param drawn what `links` gives
 * @param chosen queries whose lines are drawn; empty: all, thinner. `read` is the line on top.
 */
export function drawLines(canvas, drawn, { queries, keys, region, chosen, width, colours, read, weight }) {
  const [rows, columns] = [
    queries.slice(region.queries.from, region.queries.to),
    keys.slice(region.keys.from, region.keys.to),
  ];
  const layout = layOutLines(canvas.getContext('2d'), { queries: rows, keys: columns }, width);
  const context = prepare(canvas, width, layout.height);
  const inRegion = ({ query, key, ...more }) => ({
    query: query - region.queries.from,
    key: key - region.keys.from,
    ...more,
  });
  const most = chosen.length > 0 ? 5.25 : 2.25;
  for (const link of drawn)
    drawLink(context, layout, inRegion(link), {
      colour: colours.query,
      width: 0.75 + most * link.weight,
      alpha: 0.15 + 0.75 * link.weight,
    });
  const here = read && inRegion(read);
  if (here && here.query >= 0 && here.query < rows.length && here.key >= 0 && here.key < columns.length) {
    drawLink(context, layout, here, { colour: colours.ink, width: 0.75 + most * weight, alpha: 0.9 });
  }
  const received = new Float64Array(columns.length);
  for (const link of drawn) received[inRegion(link).key] += link.weight;
  const share = (s) => Math.min(received[s], 1);
  const asks = (t) => chosen.includes(t + region.queries.from);
  drawTokens(context, rows, {
    x: layout.left,
    align: 'right',
    room: layout.left - MARGIN,
    layout,
    style: (t) => ({ colour: asks(t) ? colours.query : colours.text, bold: asks(t) }),
  });
  drawTokens(context, columns, {
    x: layout.right,
    align: 'left',
    room: width - layout.right - MARGIN,
    layout,
    style: (s) => ({
      colour: received[s] > 0 ? colours.key : colours.text,
      bold: s === here?.key,
      alpha: received[s] > 0 ? 0.6 + 0.4 * share(s) : 0.75,
    }),
  });
  return layout;
}
