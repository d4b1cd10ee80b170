// Requests that change the input of a source, except the text: texts of tokens, the number of heads, picture or sound.

import { Problem } from '../sources/problem.js';

/** @import { PatchOptions } from '../../store/protocol.js' */
/** @import { HeadsSource, Source, TransformerSource } from '../sources/types.js' */
/** @import { Handler } from '../types.js' */

/** @type {Handler<'split'>} */
export const split = {
  async answer({ name, heads }, reply, worker) {
    const source = await worker.sourceOf({ model: name }, reply);
    if ('headInputs' in source) source.split?.(heads);
    reply.send('changed', {});
  },
};

/** @type {Handler<'nameTokens'>} */
export const nameTokens = {
  async answer({ name, tokens }, reply, worker) {
    const source = await worker.sourceOf({ model: name }, reply);
    source.tokens = { ...source.tokens, ...tokens };
    source.version = (source.version ?? 0) + 1;
    reply.send('changed', {});
  },
};

/** @type {Handler<'sound'>} */
export const sound = {
  async answer({ name, samples, rate }, reply, worker) {
    const source = await worker.sourceOf({ model: name }, reply);
    if (!('sound' in source)) throw new Problem('noListener');
    await source.sound?.hear(samples, rate);
    reply.send('changed', {});
  },
};

/** @param {Source} source @returns {source is TransformerSource | HeadsSource} */
const readsPicture = (source) => !('attentions' in source);

/** @type {Handler<'picture'>} */
export const picture = {
  async answer({ name, file }, reply, worker) {
    const source = await worker.sourceOf({ model: name, part: 'vision' }, reply);
    if (!readsPicture(source)) throw new Problem('noPicture', file?.name ?? '');
    const patch = /** @type {PatchOptions} */ ('headInputs' in source ? source.patch : source.model.options.patch);
    const { drawnPixels, pixelsOf } = await import('../sources/pictures.js');
    const pixelsFor = async (/** @type {typeof source} */ reader, /** @type {ImageBitmap} */ bitmap) => {
      if (!('towers' in reader) || !reader.towers) return pixelsOf(bitmap, patch, reader.preprocessor);
      const { towerPixels } = await import('../sources/textImageSource.js');
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
