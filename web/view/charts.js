// Curves over the steps of training.

import { FONT, prepare } from './heatmap.js';

const ROOM = { left: 44, right: 10, top: 10, bottom: 24 };
const TICK = 11;

/** Round numbers between two ends: 1, 2 or 5 times a power of ten apart. */
export function roundTicks(from, to, most) {
  if (!(to > from)) return [from];
  const rough = (to - from) / most;
  const power = 10 ** Math.floor(Math.log10(rough));
  const unit = ([1, 2, 5].find((n) => n * power >= rough) ?? 10) * power;
  const ticks = [];
  for (let tick = Math.ceil(from / unit) * unit; tick <= to + unit * 1e-9; tick += unit)
    ticks.push(Number(tick.toPrecision(12)));
  return ticks;
}

/** Powers of ten between two ends, with their halves and doubles where there are few. */
export function logTicks(from, to) {
  const ticks = [];
  for (let power = Math.floor(Math.log10(from)); power <= Math.ceil(Math.log10(to)); power++)
    ticks.push(...[1, 2, 5].map((n) => n * 10 ** power));
  const inside = ticks.filter((tick) => tick >= from * 0.999 && tick <= to * 1.001);
  return inside.length > 5 ? inside.filter((tick) => Math.log10(tick) % 1 === 0) : inside;
}

/** As many points as there are pixels: of each pixel the mean. */
function thin(points, most) {
  if (points.length <= 2 * most) return points;
  const size = Math.ceil(points.length / most);
  const thinned = [];
  for (let i = 0; i < points.length; i += size) {
    const part = points.slice(i, i + size);
    thinned.push([part[part.length - 1][0], part.reduce((sum, [, y]) => sum + y, 0) / part.length]);
  }
  return thinned;
}

/**
 * @param {HTMLCanvasElement} canvas
 * @param {{ series: { points: [number, number][], colour: string, width?: number, dashed?: boolean }[], from?: number,
 * to?: number,
 *   log?: boolean, mark?: number, width: number, height: number, colours: object }} chart
 */
export function drawCurves(canvas, { series, from = 0, to, log = false, mark, width, height, colours }) {
  const context = prepare(canvas, width, height);
  const all = series.flatMap(({ points }) => points);
  const steps = Math.max(10, ...series.map(({ points }) => points.at(-1)?.[0] ?? 0));
  const values = all.map(([, y]) => y).filter((y) => Number.isFinite(y) && (!log || y > 0));
  const lowest = values.reduce((a, b) => Math.min(a, b), log ? 1 : from);
  const highest = to ?? values.reduce((a, b) => Math.max(a, b), log ? lowest * 2 : 1);
  const [low, high] = log ? [lowest * 0.9, highest * 1.1] : [from, highest];
  const share = log
    ? (y) => Math.log(Math.max(y, low) / low) / Math.log(high / low)
    : (y) => (y - low) / (high - low || 1);
  const [right, bottom] = [width - ROOM.right, height - ROOM.bottom];
  const x = (step) => ROOM.left + (step / steps) * (right - ROOM.left);
  const y = (value) => bottom - Math.min(Math.max(share(value), 0), 1) * (bottom - ROOM.top);
  context.font = FONT.replace('13px', `${TICK}px`);
  context.lineWidth = 1;
  context.strokeStyle = colours.grid;
  context.fillStyle = colours.text;
  context.textBaseline = 'middle';
  context.textAlign = 'right';
  for (const tick of log ? logTicks(low, high) : roundTicks(low, high, 4)) {
    context.beginPath();
    context.moveTo(ROOM.left, y(tick));
    context.lineTo(right, y(tick));
    context.stroke();
    context.fillText(String(Number(tick.toPrecision(3))), ROOM.left - 6, y(tick));
  }
  context.textBaseline = 'top';
  context.textAlign = 'center';
  for (const tick of roundTicks(0, steps, Math.max(Math.floor(width / 110), 2)))
    context.fillText(String(tick), x(tick), bottom + 6);
  if (mark !== undefined) {
    context.strokeStyle = colours.ink;
    context.beginPath();
    context.moveTo(x(mark), ROOM.top);
    context.lineTo(x(mark), bottom);
    context.stroke();
  }
  for (const { points, colour, width: line = 1.5, dashed = false } of series) {
    context.strokeStyle = colour;
    context.lineWidth = line;
    context.setLineDash(dashed ? [4, 3] : []);
    context.beginPath();
    thin(points, right - ROOM.left).forEach(([step, value], i) =>
      i === 0 ? context.moveTo(x(step), y(value)) : context.lineTo(x(step), y(value)),
    );
    context.stroke();
  }
  context.setLineDash([]);
}
