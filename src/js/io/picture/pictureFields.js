// Reads preprocessor_config.json of a model of pictures. A field that the file leaves out has the default of the class
// that the file names, in the Python library transformers.

import { HeadlightError } from '../../check/errors.js';
import { quote } from '../../check/quote.js';

/** @typedef {Record<string, any>} Fields of preprocessor_config.json */
/**
 * Defaults of a class. square: true if a size that is one number is the side of a square, not the shortest edge.
 * @typedef {{ square: boolean, fields: Fields }} Processor
 */

const [BILINEAR, BICUBIC] = [2, 3];
/** The mean and the deviation of colours in the training of CLIP. */
const CLIP_MEAN = [0.48145466, 0.4578275, 0.40821073];
const CLIP_STD = [0.26862954, 0.26130258, 0.27577711];
const HALF = [0.5, 0.5, 0.5];
const STEPS = { do_resize: true, do_rescale: true, rescale_factor: 1 / 255, do_normalize: true };

/** Resizes the shortest edge and cuts out the middle. @type {Processor} */
const EDGE = {
  square: false,
  fields: {
    ...STEPS,
    ...{ size: { shortest_edge: 224 }, resample: BICUBIC, do_center_crop: true, crop_size: 224 },
    ...{ image_mean: CLIP_MEAN, image_std: CLIP_STD },
  },
};
/** Resizes to a square. @param {number} side @param {number} resample @param {Fields} [crop] @returns {Processor} */
const squeezed = (side, resample, crop = { do_center_crop: false }) => ({
  square: true,
  fields: { ...STEPS, size: side, resample, ...crop, image_mean: HALF, image_std: HALF },
});
/** @type {Readonly<Record<string, Processor>>} */
const PROCESSORS = Object.assign(Object.create(null), {
  CLIP: EDGE,
  Bit: EDGE,
  ViT: squeezed(224, BILINEAR),
  DeiT: squeezed(256, BICUBIC, { do_center_crop: true, crop_size: 224 }),
  Siglip: squeezed(224, BICUBIC),
});
/** The class for a model whose file names none, by the beginning of its model_type. @type {Record<string, string>} */
const OF_MODELS = { clip: 'CLIP', siglip: 'Siglip', vit: 'ViT', deit: 'DeiT', dinov2: 'Bit' };

/** @param {string} field @param {unknown} value @param {string} expected */
export const unsupported = (field, value, expected) =>
  new HeadlightError('FORMAT', `pixels: preprocessor_config.json: ${field} is ${value}, expected ${expected}`, {
    parameter: field,
  });

/**
 * Adds the fields that a file leaves out. A field that is null counts as left out. The fields of a file that names an
 * unknown class are not changed.
 * @param {Fields} given
 * @param {string} [modelType] model_type of config.json
 * @returns {Fields}
 */
export function withDefaults(given, modelType = '') {
  const fields = PROCESSORS[classOf(given, modelType)]?.fields ?? {};
  return {
    ...given,
    ...Object.fromEntries(Object.entries(fields).map(([name, standard]) => [name, given[name] ?? standard])),
  };
}

/**
 * Returns the beginning of the name of the class, such as CLIP.
 * @param {Fields} given
 * @param {string} modelType
 */
function classOf({ image_processor_type: type, feature_extractor_type: older }, modelType) {
  const name = type ?? older ?? OF_MODELS[modelType.split('_')[0]] ?? 'ViT';
  return String(name).replace(/(ImageProcessor|FeatureExtractor).*$/, '');
}

/**
 * Returns the fields that change the pixels. Sizes have named sides.
 * @param {Fields} file
 * @param {string} [modelType] model_type of config.json
 * @returns {Fields}
 */
export function readPictureFields(file, modelType = '') {
  const name = classOf(file, modelType);
  if (!(name in PROCESSORS)) {
    const field = file.image_processor_type === undefined ? 'feature_extractor_type' : 'image_processor_type';
    const known = Object.keys(PROCESSORS).map((start) => `${start}ImageProcessor`);
    throw unsupported(field, quote(file[field]), `one of ${known.join(', ')}`);
  }
  const given = withDefaults(file, modelType);
  // Image processors of transformers disagree about these fields: some obey them, and some ignore them.
  if (given.do_pad) throw unsupported('do_pad', given.do_pad, 'false');
  if ((given.data_format ?? 'channels_first') !== 'channels_first')
    throw unsupported('data_format', quote(given.data_format), 'channels_first');
  const { square, fields } = PROCESSORS[name];
  return {
    ...Object.fromEntries(Object.keys(fields).map((field) => [field, given[field]])),
    size: readSize('size', given.size, given.default_to_square ?? square),
    ...(given.do_center_crop && { crop_size: readSize('crop_size', given.crop_size, true) }),
  };
}

/**
 * Converts a size to one with named sides. A list has the height first.
 * @param {string} field
 * @param {any} size
 * @param {boolean} square true if a number is the side of a square
 * @returns {{ height: number, width: number } | { shortest_edge: number }}
 */
function readSize(field, size, square) {
  const fail = () => unsupported(field, JSON.stringify(size), 'a height and a width, or only shortest_edge');
  if (typeof size === 'number') return square ? { height: size, width: size } : { shortest_edge: size };
  if (Array.isArray(size) && size.length === 2) return { height: size[0], width: size[1] };
  if (typeof size !== 'object' || size === null) throw fail();
  const named = Object.fromEntries(Object.entries(size).filter(([, side]) => side !== null));
  const names = Object.keys(named).sort().join();
  if (names !== 'height,width' && (names !== 'shortest_edge' || field === 'crop_size')) throw fail();
  return /** @type {{ height: number, width: number }} */ (named);
}
