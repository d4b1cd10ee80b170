// Converts a picture to the pixel values that a model reads, by the steps in the preprocessor_config.json of the model.

import { argumentError, HeadlightError } from '../../check/errors.js';
import { FILTERS, resizePicture } from './resizePicture.js';

/** @import { Picture } from './resizePicture.js' */

/** @typedef {Record<string, any>} Fields of preprocessor_config.json */

const CALLER = 'pixels';
const CHANNELS = 3;
/** The largest width and height, so that an invalid file cannot make the function allocate all memory. */
const MAX_SIDE = 4096;

/** @param {string} field @param {unknown} value @param {string} expected */
const unsupported = (field, value, expected) =>
  new HeadlightError('FORMAT', `${CALLER}: preprocessor_config.json: ${field} is ${value}, expected ${expected}`, {
    parameter: field,
  });

/**
 * @param {Picture} picture
 * @param {Fields} config
 * @returns {{ data: Float32Array, shape: [1, 3, number, number] }}
 */
export function preparePicture(picture, config) {
  let ready = picture;
  if (config.do_resize ?? true) ready = resized(ready, config);
  if (config.do_center_crop) ready = cropped(ready, sizeOf('crop_size', config.crop_size));
  const { data, width, height } = ready;
  const factor = (config.do_rescale ?? true) ? (config.rescale_factor ?? 1 / 255) : 1;
  const normalizes = config.do_normalize ?? true;
  const [means, stds] = ['image_mean', 'image_std'].map((field) => (normalizes ? threeNumbers(config, field) : []));
  const area = width * height;
  const pixels = new Float32Array(CHANNELS * area);
  for (let c = 0; c < CHANNELS; c++)
    for (let i = 0; i < area; i++) {
      const value = data[i * CHANNELS + c] * factor;
      pixels[c * area + i] = normalizes ? (value - means[c]) / stds[c] : value;
    }
  return { data: pixels, shape: [1, CHANNELS, height, width] };
}

/** @param {Fields} config @param {string} field @returns {number[]} */
function threeNumbers(config, field) {
  const list = config[field];
  const isValid = Array.isArray(list) && list.length === CHANNELS && list.every((x) => Number.isFinite(x));
  if (!isValid || (field === 'image_std' && list.includes(0)))
    throw unsupported(field, JSON.stringify(list), field === 'image_std' ? 'three nonzero numbers' : 'three numbers');
  return list;
}

/** @param {Picture} picture @param {Fields} config @returns {Picture} */
function resized(picture, { size, resample = 2 }) {
  const filter = FILTERS[resample];
  if (!filter) throw unsupported('resample', resample, `one of ${Object.keys(FILTERS).join(', ')}`);
  const edge = size?.shortest_edge;
  if (edge === undefined) {
    const { width, height } = sizeOf('size', size);
    return resizePicture(picture, width, height, filter);
  }
  if (!isSide(edge)) throw unsupported('size', JSON.stringify(size), `a shortest_edge of 1 to ${MAX_SIDE}`);
  const short = Math.min(picture.width, picture.height);
  const long = Math.trunc((edge * Math.max(picture.width, picture.height)) / short);
  if (!isSide(long))
    throw argumentError(
      CALLER,
      'picture',
      `${picture.width} × ${picture.height}`,
      `a picture whose longer side has at most ${MAX_SIDE} pixels after resizing`,
    );
  const [width, height] = picture.width <= picture.height ? [edge, long] : [long, edge];
  return resizePicture(picture, width, height, filter);
}

/** @param {unknown} side */
const isSide = (side) => Number.isInteger(side) && Number(side) >= 1 && Number(side) <= MAX_SIDE;

/** Reads a size. A number is the side of a square. @param {string} field @param {any} size */
function sizeOf(field, size) {
  const { width, height } = typeof size === 'number' ? { width: size, height: size } : (size ?? {});
  if (!isSide(width) || !isSide(height))
    throw unsupported(field, JSON.stringify(size), `a height and a width of 1 to ${MAX_SIDE}, or shortest_edge`);
  return { width, height };
}

/**
 * Returns the middle of a picture, cut to a size. If the size is larger than the picture, a black border is added.
 * @param {Picture} picture
 * @param {{ width: number, height: number }} size
 * @returns {Picture}
 */
function cropped({ data, width: old, height: oldHeight }, { width, height }) {
  const [top, left] = [Math.floor((oldHeight - height) / 2), Math.floor((old - width) / 2)];
  const to = new Uint8Array(width * height * CHANNELS);
  for (let y = Math.max(-top, 0); y < Math.min(height, oldHeight - top); y++) {
    const [begin, end] = [Math.max(-left, 0), Math.min(width, old - left)];
    const from = ((y + top) * old + left + begin) * CHANNELS;
    to.set(data.subarray(from, from + (end - begin) * CHANNELS), (y * width + begin) * CHANNELS);
  }
  return { data: to, width, height };
}
