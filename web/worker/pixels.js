// A picture as a model of patches reads it: cut to the middle, made as large as the model wants it, and shifted as it
// was in training.

const MEAN = [0.5, 0.5, 0.5];

/** A sea, a sun and a whale. @param {[number, number]} image */
function drawnPicture([height, width]) {
  const canvas = new OffscreenCanvas(width, height);
  const context = /** @type {OffscreenCanvasRenderingContext2D} */ (canvas.getContext('2d'));
  const x = (/** @type {number} */ share) => share * width;
  const y = (/** @type {number} */ share) => share * height;
  const sky = context.createLinearGradient(0, 0, 0, y(0.6));
  sky.addColorStop(0, '#7fb4dc');
  sky.addColorStop(1, '#f6dfc0');
  context.fillStyle = sky;
  context.fillRect(0, 0, width, height);
  context.fillStyle = '#f4b942';
  context.beginPath();
  context.arc(x(0.78), y(0.22), x(0.09), 0, 7);
  context.fill();
  const sea = context.createLinearGradient(0, y(0.58), 0, height);
  sea.addColorStop(0, '#3f7c9f');
  sea.addColorStop(1, '#12324a');
  context.fillStyle = sea;
  context.fillRect(0, y(0.58), width, y(0.42));
  context.fillStyle = '#39424c';
  context.beginPath();
  context.moveTo(x(0.12), y(0.66));
  context.bezierCurveTo(x(0.16), y(0.4), x(0.5), y(0.36), x(0.66), y(0.6));
  context.bezierCurveTo(x(0.72), y(0.64), x(0.78), y(0.6), x(0.82), y(0.46));
  context.bezierCurveTo(x(0.86), y(0.5), x(0.92), y(0.5), x(0.95), y(0.44));
  context.bezierCurveTo(x(0.95), y(0.6), x(0.84), y(0.78), x(0.6), y(0.8));
  context.bezierCurveTo(x(0.3), y(0.84), x(0.12), y(0.8), x(0.12), y(0.66));
  context.fill();
  context.strokeStyle = '#dcebf2';
  context.lineWidth = Math.max(x(0.02), 1);
  context.beginPath();
  context.moveTo(x(0.3), y(0.42));
  context.quadraticCurveTo(x(0.28), y(0.26), x(0.2), y(0.22));
  context.moveTo(x(0.3), y(0.42));
  context.quadraticCurveTo(x(0.33), y(0.26), x(0.4), y(0.24));
  context.stroke();
  context.fillStyle = '#fff';
  context.beginPath();
  context.arc(x(0.24), y(0.6), Math.max(x(0.016), 0.7), 0, 7);
  context.fill();
  return canvas.transferToImageBitmap();
}

/** Pixels that a visitor sees on the longer side, where the model reads fewer. */
const FINE = 640;

/** The middle of a picture in a size. @param {ImageBitmap} picture @param {number[]} size */
function imageOf(picture, [height, width]) {
  const canvas = new OffscreenCanvas(width, height);
  const context = /** @type {OffscreenCanvasRenderingContext2D} */ (
    canvas.getContext('2d', { willReadFrequently: true })
  );
  const scale = Math.max(width / picture.width, height / picture.height);
  const [w, h] = [picture.width * scale, picture.height * scale];
  context.imageSmoothingQuality = 'high';
  context.drawImage(picture, (width - w) / 2, (height - h) / 2, w, h);
  return { data: context.getImageData(0, 0, width, height).data, width, height };
}

const finer = (/** @type {[number, number]} */ size) =>
  /** @type {[number, number]} */ (size.map((side) => side * Math.max(Math.floor(FINE / Math.max(...size)), 1)));

/**
 * @param {ImageBitmap} picture
 * @param {{ image: [number, number], channels: number }} patch
 * @param {Record<string, any>} look preprocessor_config.json
 * @returns {import('./sources/sources.js').Pixels}
 */
export function pixelsOf(picture, { image: [height, width], channels }, look = {}) {
  const image = imageOf(picture, [height, width]);
  const [mean, std] = [look.image_mean ?? MEAN, look.image_std ?? MEAN];
  const size = width * height;
  const pixels = new Float32Array(channels * size);
  for (let c = 0; c < channels; c++)
    for (let i = 0; i < size; i++) pixels[c * size + i] = (image.data[4 * i + Math.min(c, 2)] / 255 - mean[c]) / std[c];
  const fine = imageOf(picture, finer([height, width]));
  return { data: pixels, shape: [1, channels, height, width], image, fine };
}

/**
 * Where the visitor has given no picture.
 * @param {{ image: [number, number], channels: number }} patch
 * @param {Record<string, any>} [look]
 */
export function drawnPixels(patch, look) {
  const size = finer(patch.image);
  return { ...pixelsOf(drawnPicture(patch.image), patch, look), fine: imageOf(drawnPicture(size), size) };
}
