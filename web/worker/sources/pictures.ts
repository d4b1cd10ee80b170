// Prepares a picture as the input of a model that reads patches: crops it to the centre, resizes it, and normalizes the
// pixels as in the training of the model.

import type { PatchOptions, PictureData, Pixels, Preprocessor } from './types.ts';
export type Size = readonly [height: number, width: number];

/** The mean, and also the standard deviation, of pixels for a model without preprocessor_config.json. */
const MEAN = [0.5, 0.5, 0.5];

/** Draws the first picture: a sea, a sun and a whale. */
function drawnPicture([height, width]: Size) {
  const canvas = new OffscreenCanvas(width, height);
  const context = canvas.getContext('2d') as OffscreenCanvasRenderingContext2D;
  const x = (share: number) => share * width;
  const y = (share: number) => share * height;
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

/** Maximum pixels of the longer side of the shown picture, if the model reads fewer. */
const FINE = 640;

/** Resizes the centre of a picture, or the whole picture. */
function imageOf(picture: ImageBitmap, [height, width]: Size, isWhole = false): PictureData {
  const canvas = new OffscreenCanvas(width, height);
  const context = canvas.getContext('2d', { willReadFrequently: true }) as OffscreenCanvasRenderingContext2D;
  const scale = Math.max(width / picture.width, height / picture.height);
  const [w, h] = isWhole ? [width, height] : [picture.width * scale, picture.height * scale];
  context.imageSmoothingQuality = 'high';
  context.drawImage(picture, (width - w) / 2, (height - h) / 2, w, h);
  return { data: context.getImageData(0, 0, width, height).data, width, height };
}

function fineSize([height, width]: Size): Size {
  const factor = Math.max(Math.floor(FINE / Math.max(height, width)), 1);
  return [height * factor, width * factor];
}

/** `isWhole`: true if the picture is not cropped. */
export function pixelsOf(
  picture: ImageBitmap,
  { image: [height, width], channels }: Pick<PatchOptions, 'image' | 'channels'>,
  preprocessor: Preprocessor = {},
  isWhole = false,
): Pixels {
  const image = imageOf(picture, [height, width], isWhole);
  const [mean, std] = [preprocessor.image_mean ?? MEAN, preprocessor.image_std ?? MEAN];
  const size = width * height;
  const pixels = new Float32Array(channels * size);
  for (let c = 0; c < channels; c++)
    for (let i = 0; i < size; i++) pixels[c * size + i] = (image.data[4 * i + Math.min(c, 2)] / 255 - mean[c]) / std[c];
  const fine = imageOf(picture, fineSize([height, width]), isWhole);
  return { data: pixels, shape: [1, channels, height, width], image, fine };
}

/** Returns the picture that the page draws, as the input of a model. */
export function drawnPixels(patch: Pick<PatchOptions, 'image' | 'channels'>, preprocessor?: Preprocessor): Pixels {
  const size = fineSize(patch.image);
  const fine = imageOf(drawnPicture(size), size);
  return { ...pixelsOf(drawnPicture(patch.image), patch, preprocessor), fine };
}
