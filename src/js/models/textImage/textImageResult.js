// The result of forward() of a model for texts and pictures.

import { DISPOSE } from '../../memory/disposable.js';

/** @import { Tensor } from '../../memory/tensor.js' */
/** @import { ModelResult } from '../modelResult.js' */

/** The tensors that forward() returns, of the towers that have an input. dispose() frees all of them. */
export class TextImageResult {
  /**
   * @param {Partial<Record<'textEmbeds' | 'imageEmbeds' | 'logitsPerText' | 'logitsPerImage', Tensor>>} tensors
   * @param {{ text?: ModelResult, vision?: ModelResult }} towers
   */
  constructor({ textEmbeds, imageEmbeds, logitsPerText, logitsPerImage }, { text, vision }) {
    /** (N,D): a vector of length 1 for each text. @type {Tensor} */
    this.textEmbeds = /** @type {Tensor} */ (textEmbeds);
    /** (M,D): a vector of length 1 for each picture. @type {Tensor} */
    this.imageEmbeds = /** @type {Tensor} */ (imageEmbeds);
    /** (N,M): the scaled similarity of each text with each picture. @type {Tensor} */
    this.logitsPerText = /** @type {Tensor} */ (logitsPerText);
    /** (M,N): the scaled similarity of each picture with each text. @type {Tensor} */
    this.logitsPerImage = /** @type {Tensor} */ (logitsPerImage);
    /** The results of the towers: `hidden`, and `pooled` before it is divided by its length. @type {ModelResult} */
    this.text = /** @type {ModelResult} */ (text);
    /** @type {ModelResult} */
    this.vision = /** @type {ModelResult} */ (vision);
  }

  /** The captured values of both towers by name: 'text.blocks.0.weights' … @returns {Record<string, Tensor>} */
  get captured() {
    const of = (/** @type {'text' | 'vision'} */ tower) =>
      Object.entries(this[tower]?.captured ?? {}).map(([name, tensor]) => [`${tower}.${name}`, tensor]);
    return Object.fromEntries([...of('text'), ...of('vision')]);
  }

  dispose() {
    const { textEmbeds, imageEmbeds, logitsPerText, logitsPerImage, text, vision } = this;
    for (const part of [textEmbeds, imageEmbeds, logitsPerText, logitsPerImage, text, vision]) part?.dispose();
  }

  [DISPOSE]() {
    this.dispose();
  }
}
