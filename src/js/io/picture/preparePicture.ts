// Converts a picture to the pixel values that a model reads, by its preprocessor_config.json.

import { argumentError } from '../../check/errors.ts';
import { type Fields, readPictureFields, unsupported } from './pictureFields.ts';
import { FILTERS, type Picture, resizePicture } from './resizePicture.ts';

const CALLER = 'pixels';
const CHANNELS = 3;
/** The largest width and height, so that an invalid file cannot make the function allocate all memory. */
const MAX_SIDE = 4096;

export function preparePicture(
  picture: Picture,
  config: Fields,
  modelType?: string,
): { data: Float32Array; shape: [1, 3, number, number] } {
  const fields = readPictureFields(config, modelType);
  let ready = picture;
  if (fields.do_resize) ready = resized(ready, fields);
  if (fields.do_center_crop) ready = cropped(ready, sizeOf('crop_size', fields.crop_size));
  const { data, width, height } = ready;
  const factor = fields.do_rescale ? factorOf(fields) : 1;
  const normalizes = fields.do_normalize;
  const [means, stds] = ['image_mean', 'image_std'].map((field) => (normalizes ? threeNumbers(fields, field) : []));
  const area = width * height;
  const pixels = new Float32Array(CHANNELS * area);
  for (let c = 0; c < CHANNELS; c++)
    for (let i = 0; i < area; i++) {
      const value = data[i * CHANNELS + c] * factor;
      pixels[c * area + i] = normalizes ? (value - means[c]) / stds[c] : value;
    }
  return { data: pixels, shape: [1, CHANNELS, height, width] };
}

function factorOf({ rescale_factor: factor }: Fields): number {
  if (!Number.isFinite(factor)) throw unsupported('rescale_factor', JSON.stringify(factor), 'a number');
  return factor;
}

function threeNumbers(fields: Fields, field: string) {
  const given = fields[field];
  const list = typeof given === 'number' ? new Array(CHANNELS).fill(given) : given;
  const isValid = Array.isArray(list) && list.length === CHANNELS && list.every((x) => Number.isFinite(x));
  if (!isValid || (field === 'image_std' && list.includes(0)))
    throw unsupported(field, JSON.stringify(list), field === 'image_std' ? 'three nonzero numbers' : 'three numbers');
  return list;
}

function resized(picture: Picture, { size, resample }: Fields): Picture {
  const filter = FILTERS[resample];
  if (!filter) throw unsupported('resample', resample, `one of ${Object.keys(FILTERS).join(', ')}`);
  const edge = size.shortest_edge;
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

const isSide = (side: unknown) => Number.isInteger(side) && Number(side) >= 1 && Number(side) <= MAX_SIDE;

function sizeOf(field: string, size: any) {
  const { width, height } = size;
  if (!isSide(width) || !isSide(height))
    throw unsupported(field, JSON.stringify(size), `a height and a width of 1 to ${MAX_SIDE}, or shortest_edge`);
  return { width, height };
}

/** Returns the middle of a picture, cut to a size. If the size is larger than the picture, a black border is added. */
function cropped(
  { data, width: old, height: oldHeight }: Picture,
  { width, height }: { width: number; height: number },
): Picture {
  const [top, left] = [Math.floor((oldHeight - height) / 2), Math.floor((old - width) / 2)];
  const to = new Uint8Array(width * height * CHANNELS);
  for (let y = Math.max(-top, 0); y < Math.min(height, oldHeight - top); y++) {
    const [begin, end] = [Math.max(-left, 0), Math.min(width, old - left)];
    const from = ((y + top) * old + left + begin) * CHANNELS;
    to.set(data.subarray(from, from + (end - begin) * CHANNELS), (y * width + begin) * CHANNELS);
  }
  return { data: to, width, height };
}
