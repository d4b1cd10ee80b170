// Makes sources of a model for texts and pictures. Each of its two towers is a source of its own.

import type { TextImageModel } from '../../../src/js/models/textImage/textImageModel.ts';
import { drawnPixels, pixelsOf } from './pictures.ts';
import { transformerSource } from './sources.ts';
import type { PatchOptions, Pixels, TransformerSource } from './types.ts';

/** Returns the source of the tower for texts, whose field `towers` contains both sources. */
export function textImageSource(
  name: string,
  pair: TextImageModel,
  files: { bytes: number; title?: string },
): TransformerSource {
  const towerSource = (part: 'text' | 'vision') => {
    const source = transformerSource(name, { model: pair[part], tokenizer: pair[part].tokenizer, ...files });
    const { about } = source;
    const matches = pair.similarity.independent ? ('each' as const) : ('all' as const);
    return { ...source, part, about: { ...about, family: pair.family, parts: PARTS, compares: null, matches } };
  };
  const text: TransformerSource = { ...towerSource('text'), dispose: () => pair.dispose() };
  const vision: TransformerSource = towerSource('vision');
  const patch = vision.model.options.patch as PatchOptions;
  vision.pixels = drawnPixels(patch, vision.model.preprocessor);
  text.towers = { pair, text, vision, vectors: new Map() };
  vision.towers = text.towers;
  return text;
}

const PARTS: ('text' | 'vision')[] = ['text', 'vision'];

export async function towerPixels({ model }: TransformerSource, picture: ImageBitmap): Promise<Pixels> {
  const { preprocessor, options } = model;
  const isWhole = preprocessor !== undefined && !preprocessor.do_center_crop;
  const pixels = pixelsOf(picture, options.patch as PatchOptions, preprocessor, isWhole);
  if (!preprocessor) return pixels;
  const { data, shape } = (await model.pixels(picture)).pixels;
  return { ...pixels, data, shape };
}
