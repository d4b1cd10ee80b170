// Requests that change the input of a source, except the text: texts of tokens, the number of heads, picture or sound.

import type { PatchOptions } from '../../model/protocol/protocol.ts';
import { Problem } from '../sources/problem.ts';
import type { HeadsSource, Source, TransformerSource } from '../sources/types.ts';
import type { Handler } from '../types.ts';

export const split: Handler<'split'> = {
  async answer({ name, heads }, reply, worker) {
    const source = await worker.sourceOf({ model: name }, reply);
    if ('headInputs' in source) source.split?.(heads);
    reply.send('changed', {});
  },
};

export const nameTokens: Handler<'nameTokens'> = {
  async answer({ name, tokens }, reply, worker) {
    const source = await worker.sourceOf({ model: name }, reply);
    source.tokens = { ...source.tokens, ...tokens };
    source.version = (source.version ?? 0) + 1;
    reply.send('changed', {});
  },
};

export const sound: Handler<'sound'> = {
  async answer({ name, samples, rate }, reply, worker) {
    const source = await worker.sourceOf({ model: name }, reply);
    if (!('sound' in source)) throw new Problem('noListener');
    await source.sound?.hear(samples, rate);
    reply.send('changed', {});
  },
};

const readsPicture = (source: Source): source is TransformerSource | HeadsSource => !('attentions' in source);

export const picture: Handler<'picture'> = {
  async answer({ name, file }, reply, worker) {
    const source = await worker.sourceOf({ model: name, part: 'vision' }, reply);
    if (!readsPicture(source)) throw new Problem('noPicture', file?.name ?? '');
    const patch = ('headInputs' in source ? source.patch : source.model.options.patch) as PatchOptions;
    const { drawnPixels, pixelsOf } = await import('../sources/pictures.ts');
    const pixelsFor = async (reader: typeof source, bitmap: ImageBitmap) => {
      if (!('towers' in reader) || !reader.towers) return pixelsOf(bitmap, patch, reader.preprocessor);
      const { towerPixels } = await import('../sources/textImageSource.ts');
      return towerPixels(reader, bitmap);
    };
    if (file)
      try {
        source.pixels = await pixelsFor(source, await createImageBitmap(file));
      } catch {
        throw new Problem('noPicture', file.name ?? '');
      }
    else source.pixels = drawnPixels(patch, source.preprocessor);
    source.version = (source.version ?? 0) + 1;
    reply.send('changed', {});
  },
};
