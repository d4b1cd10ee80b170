// Reads preprocessor_config.json of a model of pictures. Missing fields have the defaults of the class in transformers.

import { HeadlightError } from '../../check/errors.ts';
import { quote } from '../../check/quote.ts';

export type Fields = Record<string, any>;
/** Defaults of a class. square: true if a size that is one number is the side of a square, not the shortest edge. */
export type Processor = { square: boolean; fields: Fields };

const [BILINEAR, BICUBIC] = [2, 3];
/** The mean and the deviation of colours in the training of CLIP. */
const CLIP_MEAN = [0.48145466, 0.4578275, 0.40821073];
const CLIP_STD = [0.26862954, 0.26130258, 0.27577711];
const HALF = [0.5, 0.5, 0.5];
const STEPS = { do_resize: true, do_rescale: true, rescale_factor: 1 / 255, do_normalize: true };

/** Resizes the shortest edge and cuts out the middle. */
const EDGE: Processor = {
  square: false,
  fields: {
    ...STEPS,
    ...{ size: { shortest_edge: 224 }, resample: BICUBIC, do_center_crop: true, crop_size: 224 },
    ...{ image_mean: CLIP_MEAN, image_std: CLIP_STD },
  },
};
/** Resizes to a square. */
const squeezed = (side: number, resample: number, crop: Fields = { do_center_crop: false }): Processor => ({
  square: true,
  fields: { ...STEPS, size: side, resample, ...crop, image_mean: HALF, image_std: HALF },
});
const PROCESSORS: Readonly<Record<string, Processor>> = Object.assign(Object.create(null), {
  CLIP: EDGE,
  Bit: EDGE,
  ViT: squeezed(224, BILINEAR),
  DeiT: squeezed(256, BICUBIC, { do_center_crop: true, crop_size: 224 }),
  Siglip: squeezed(224, BICUBIC),
});
/** The class for a model whose file names none, by the beginning of its model_type. */
const OF_MODELS: Record<string, string> = { clip: 'CLIP', siglip: 'Siglip', vit: 'ViT', deit: 'DeiT', dinov2: 'Bit' };

export const unsupported = (field: string, value: unknown, expected: string) =>
  new HeadlightError('FORMAT', `pixels: preprocessor_config.json: ${field} is ${value}, expected ${expected}`, {
    parameter: field,
  });

/** Adds the fields that are missing or null, unless the file names an unknown class. modelType: of config.json. */
export function withDefaults(given: Fields, modelType = ''): Fields {
  const fields = PROCESSORS[classOf(given, modelType)]?.fields ?? {};
  return {
    ...given,
    ...Object.fromEntries(Object.entries(fields).map(([name, standard]) => [name, given[name] ?? standard])),
  };
}

function classOf({ image_processor_type: type, feature_extractor_type: older }: Fields, modelType: string) {
  const name = type ?? older ?? OF_MODELS[modelType.split('_')[0]] ?? 'ViT';
  return String(name).replace(/(ImageProcessor|FeatureExtractor).*$/, '');
}

export function readPictureFields(file: Fields, modelType = ''): Fields {
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

/** Names the sides of a size; a list has the height first. square: a number is the side of a square. */
function readSize(
  field: string,
  size: any,
  square: boolean,
): { height: number; width: number } | { shortest_edge: number } {
  const fail = () => unsupported(field, JSON.stringify(size), 'a height and a width, or only shortest_edge');
  if (typeof size === 'number') return square ? { height: size, width: size } : { shortest_edge: size };
  if (Array.isArray(size) && size.length === 2) return { height: size[0], width: size[1] };
  if (typeof size !== 'object' || size === null) throw fail();
  const named = Object.fromEntries(Object.entries(size).filter(([, side]) => side !== null));
  const names = Object.keys(named).sort().join();
  if (names !== 'height,width' && (names !== 'shortest_edge' || field === 'crop_size')) throw fail();
  return named as { height: number; width: number };
}
