// Converts a picture to the pixels that a model reads.

import { argumentError } from '../../check/errors.ts';
import { preparePicture } from '../../io/picture/preparePicture.ts';
import type { Transformer } from '../transformer.ts';
import { wrongModel } from './oneSequence.ts';

/** RGBA bytes, as in ImageData. */
export type PictureBytes = { data: Uint8Array | Uint8ClampedArray; width: number; height: number };
export type PictureInput = PictureBytes | ImageData | HTMLCanvasElement | OffscreenCanvas | ImageBitmap | Blob;

const CALLER = 'pixels';

export async function readPicture(model: Transformer, picture: PictureInput) {
  if (model.options.input !== 'patches') throw wrongModel(CALLER, 'this model does not read pictures');
  if (typeof model.preprocessor !== 'object' || model.preprocessor === null)
    throw wrongModel(CALLER, 'the files of this model have no preprocessor_config.json');
  const { data, width, height } = await bytesOf(picture);
  const area = width * height;
  if (!(area > 0) || data.length !== 4 * area)
    throw argumentError(CALLER, 'picture', picture, 'RGBA bytes, a canvas, an ImageBitmap or a Blob');
  const rgb = new Uint8Array(3 * area);
  for (let i = 0; i < area; i++) rgb.set(data.subarray(4 * i, 4 * i + 3), 3 * i);
  return preparePicture({ data: rgb, width, height }, model.preprocessor, model.config?.model_type);
}

async function bytesOf(picture: any): Promise<PictureBytes> {
  if (picture?.data && picture.width !== undefined) return picture;
  if (typeof OffscreenCanvas === 'undefined')
    throw argumentError(CALLER, 'picture', picture, '{ data, width, height } with RGBA bytes, as there is no canvas');
  const source = picture instanceof Blob ? await createImageBitmap(picture) : picture;
  const context = new OffscreenCanvas(source?.width || 1, source?.height || 1).getContext('2d');
  try {
    context?.drawImage(source, 0, 0);
  } catch (cause) {
    throw Object.assign(argumentError(CALLER, 'picture', picture, 'a picture'), { cause });
  }
  return (context as OffscreenCanvasRenderingContext2D).getImageData(0, 0, source.width, source.height);
}
