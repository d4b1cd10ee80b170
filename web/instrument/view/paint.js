// Weights on a canvas.

/** A canvas of a size in CSS pixels, sharp on its screen. */
export function sized(canvas, width, height) {
  const ratio = Math.min(globalThis.devicePixelRatio || 1, 3);
  const [w, h] = [Math.max(Math.round(width * ratio), 1), Math.max(Math.round(height * ratio), 1)];
  if (canvas.width !== w || canvas.height !== h) Object.assign(canvas, { width: w, height: h });
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const context = canvas.getContext('2d');
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return context;
}

/** Keys that a query cannot look at: after it, and without weight. */
export const isAhead = (weight, t, s) => s > t && !(weight > 0) && !Number.isNaN(weight);

/**
 * A thumbnail: a pixel for a cell, enlarged to whole pixels where there are few, the largest of several where there are
 * many (a mean would lose a stripe).
 */
export function paintWeights(canvas, weights, T, size, ramp, palette) {
  const context = sized(canvas, size, size);
  const dots = Math.min(T, Math.max(Math.round(size * (globalThis.devicePixelRatio || 1)), 1));
  const image = new ImageData(dots, dots);
  const pixels = new Uint32Array(image.data.buffer);
  const cell = T / dots;
  for (let y = 0; y < dots; y++)
    for (let x = 0; x < dots; x++) {
      let most = Number.NEGATIVE_INFINITY;
      let seen = false;
      for (let t = Math.floor(y * cell); t < Math.max(Math.floor((y + 1) * cell), Math.floor(y * cell) + 1); t++)
        for (let s = Math.floor(x * cell); s < Math.max(Math.floor((x + 1) * cell), Math.floor(x * cell) + 1); s++) {
          const weight = weights[t * T + s];
          if (isAhead(weight, t, s)) continue;
          seen = true;
          if (!(weight <= most)) most = weight;
        }
      if (seen) pixels[y * dots + x] = Number.isNaN(most) ? inkPixel(palette) : ramp.pixel(most);
    }
  const small = Object.assign(document.createElement('canvas'), { width: dots, height: dots });
  small.getContext('2d')?.putImageData(image, 0, 0);
  context.imageSmoothingEnabled = false;
  context.drawImage(small, 0, 0, size, size);
}

const inkPixel = ({ ink }) => {
  const [r, g, b] = [1, 3, 5].map((at) => Number.parseInt(ink.slice(at, at + 2), 16));
  return new Uint32Array(new Uint8Array([r, g, b, 255]).buffer)[0];
};

/**
 * The large picture: cells with a line of canvas between them, NaN as a framed cross.
 * @param {any} context
 * @param {Float32Array} weights (T,T)
 * @param {number} T
 * @param {{ cell: number, gap: number }} grid
 * @param {any} ramp
 * @param {any} palette
 */
export function paintCells(context, weights, T, { cell, gap }, ramp, palette) {
  for (let t = 0; t < T; t++)
    for (let s = 0; s < T; s++) {
      const weight = weights[t * T + s];
      if (isAhead(weight, t, s)) continue;
      const [x, y, side] = [s * cell, t * cell, Math.max(cell - gap, 0.5)];
      if (Number.isNaN(weight)) cross(context, x, y, side, palette.ink);
      else {
        context.fillStyle = ramp.css(weight);
        context.fillRect(x, y, side, side);
      }
    }
}

function cross(context, x, y, side, ink) {
  context.strokeStyle = ink;
  context.lineWidth = 1;
  context.strokeRect(x + 0.5, y + 0.5, side - 1, side - 1);
  context.beginPath();
  context.moveTo(x, y);
  context.lineTo(x + side, y + side);
  context.moveTo(x + side, y);
  context.lineTo(x, y + side);
  context.stroke();
}
