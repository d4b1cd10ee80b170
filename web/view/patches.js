// One row of weights laid out as a picture: tokens that are patches of an image.

import { largest } from '../model/shrink.js';
import { prepare } from './heatmap.js';

const LARGEST = 56;
/** How much of the picture is left where nothing is attended to. */
const SHADE = { light: 0.72, dark: 0.62 };

export function layOutPatches({ rows, columns, skip = 0 }, width, height) {
  const cell = Math.min((width - 2) / columns, (height - 2) / rows, LARGEST);
  return { cell, rows, columns, skip, width: cell * columns + 2, height: cell * rows + 2 };
}

/** The token whose patch lies under a point. */
export function patchAt({ cell, rows, columns, skip }, x, y) {
  const [row, column] = [Math.floor((y - 1) / cell), Math.floor((x - 1) / cell)];
  return row >= 0 && row < rows && column >= 0 && column < columns ? skip + row * columns + column : null;
}

/** The token one step on in the picture. */
export function patchStep({ rows, columns, skip = 0 }, token, key) {
  const at = Math.max(token - skip, 0);
  const [row, column] = [Math.floor(at / columns), at % columns];
  const moves = {
    ArrowUp: [row - 1, column],
    ArrowDown: [row + 1, column],
    ArrowLeft: [row, column - 1],
    ArrowRight: [row, column + 1],
    Home: [row, 0],
    End: [row, columns - 1],
    PageUp: [0, column],
    PageDown: [rows - 1, column],
  };
  if (!moves[key]) return null;
  const clamp = (n, most) => Math.min(Math.max(n, 0), most - 1);
  return skip + clamp(moves[key][0], rows) * columns + clamp(moves[key][1], columns);
}

/** @param {Float32Array | null} weights of the query that is read: the picture is dark but for what it looks at */
export function drawPatches(canvas, image, weights, { read, also, scale, width, height, colours, theme }) {
  const places = layOutPatches(image, width, height);
  const context = prepare(canvas, places.width, places.height);
  const { cell, rows, columns, skip } = places;
  if (image.pixels) {
    const picture = new OffscreenCanvas(image.width, image.height);
    /** @type {OffscreenCanvasRenderingContext2D} */ (picture.getContext('2d')).putImageData(
      new ImageData(image.pixels, image.width, image.height),
      0,
      0,
    );
    context.imageSmoothingEnabled = true;
    context.drawImage(picture, 1, 1, cell * columns, cell * rows);
  }
  const at = (token) => [1 + ((token - skip) % columns) * cell, 1 + Math.floor((token - skip) / columns) * cell];
  const most = weights ? largest(weights) : 0;
  for (let i = 0; weights && i < rows * columns; i++) {
    const [x, y] = at(i + skip);
    if (image.pixels && Number.isFinite(weights[i + skip])) {
      context.globalAlpha = (1 - weights[i + skip] / (most || 1)) * SHADE[theme];
      context.fillStyle = theme === 'dark' ? '#0c0a07' : '#fbfaf7';
    } else context.fillStyle = `rgb(${scale.colour(weights[i + skip] / (scale.perRow ? most || 1 : 1)).join(' ')})`;
    context.fillRect(x, y, cell, cell);
    context.globalAlpha = 1;
  }
  context.strokeStyle = colours.grid;
  context.lineWidth = 1;
  for (let i = 0; i < rows * columns; i++) context.strokeRect(...at(i + skip), cell, cell);
  const frame = (token, colour, line) => {
    if (token < skip) return;
    context.strokeStyle = colour;
    context.lineWidth = line;
    context.strokeRect(...at(token), cell, cell);
  };
  for (const token of also) frame(token, colours.query, 1.5);
  if (read) {
    frame(read.key, colours.key, 2.5);
    frame(read.query, colours.query, 3);
  }
  return places;
}
