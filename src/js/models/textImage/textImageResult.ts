// The result of forward() of a model for texts and pictures.

import { DISPOSE } from '../../memory/disposable.ts';

import type { Tensor } from '../../memory/tensor.ts';
import type { ModelResult } from '../modelResult.ts';

/** The tensors that forward() returns, of the towers that have an input. dispose() frees all of them. */
export class TextImageResult {
  /** (N,D): a vector of length 1 for each text. */
  declare textEmbeds: Tensor;
  /** (M,D): a vector of length 1 for each picture. */
  declare imageEmbeds: Tensor;
  /** (N,M): the scaled similarity of each text with each picture. */
  declare logitsPerText: Tensor;
  /** (M,N): the scaled similarity of each picture with each text. */
  declare logitsPerImage: Tensor;
  /** The results of the towers: `hidden`, and `pooled` before it is divided by its length. */
  declare text: ModelResult;
  declare vision: ModelResult;

  constructor(
    {
      textEmbeds,
      imageEmbeds,
      logitsPerText,
      logitsPerImage,
    }: Partial<Record<'textEmbeds' | 'imageEmbeds' | 'logitsPerText' | 'logitsPerImage', Tensor>>,
    { text, vision }: { text?: ModelResult; vision?: ModelResult },
  ) {
    this.textEmbeds = textEmbeds as Tensor;
    this.imageEmbeds = imageEmbeds as Tensor;
    this.logitsPerText = logitsPerText as Tensor;
    this.logitsPerImage = logitsPerImage as Tensor;
    this.text = text as ModelResult;
    this.vision = vision as ModelResult;
  }

  /** The captured values of both towers by name: 'text.blocks.0.weights' … */
  get captured(): Record<string, Tensor> {
    const of = (tower: 'text' | 'vision') =>
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
