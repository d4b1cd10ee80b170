// A model for texts and pictures, such as CLIP: two towers, whose pooled vectors are compared.
//
//   textEmbeds  = unit(text.pooled)      imageEmbeds = unit(vision.pooled)
//   logitsPerText = scale · textEmbeds · imageEmbedsᵀ + bias

import { argumentError } from '../../check/errors.ts';
import { INSPECT } from '../../check/inspect.ts';
import { DISPOSE } from '../../memory/disposable.ts';
import type { Memory } from '../../memory/memory.ts';
import type { Tensor } from '../../memory/tensor.ts';
import type { OpenedModel } from '../checkpoint/open.ts';
import type { Edit } from '../edits.ts';
import type { ModelResult } from '../modelResult.ts';
import { pooledWidth } from '../parameters.ts';
import { runOnce } from '../results/oneSequence.ts';
import type { PictureInput } from '../results/readPicture.ts';
import type { ValueName } from '../valueName.ts';
import {
  areTexts,
  encodeTexts,
  type PixelInput,
  readPixels,
  readTextImage,
  readTowerOptions,
  type TextImageInput,
} from './textImageInput.ts';
import { TextImageResult } from './textImageResult.ts';
import { probabilitiesOf, type Similarity, similarities, unitRows } from './vectors.ts';

/** score: the logit of the text; index: index of the text in the caller's list. */
export type RankedText = { text: string; probability: number; score: number; index: number };

const TOWERS = ['text', 'vision'] as const;

export class TextImageModel {
  /** The tower that reads texts: a transformer of its own. */
  declare text: OpenedModel;
  /** The tower that reads pictures: a transformer of its own. */
  declare vision: OpenedModel;
  /** Factor of similarities. */
  declare logitScale: number;
  /** Number that is added to scaled similarities; 0 for CLIP. */
  declare logitBias: number;
  /** The config.json that it was opened with. */
  declare config: Record<string, any>;
  /** 'clip' or 'siglip'. */
  declare family: string;
  /** Where its files come from. */
  declare source: OpenedModel['source'];
  /** Tensors in its files that no tower reads. */
  declare unread: string[];

  #memory: Memory;
  #independent: boolean;

  constructor(
    memory: Memory,
    { text, vision }: { text: OpenedModel; vision: OpenedModel },
    { scale, bias, independent }: Similarity,
    config: Record<string, any>,
  ) {
    this.#memory = memory;
    this.#independent = independent;
    this.text = text;
    this.vision = vision;
    this.logitScale = scale;
    this.logitBias = bias;
    this.config = config;
    this.family = config.model_type;
    this.source = text.source;
    this.unread = text.unread;
  }

  get tokenizer() {
    return this.text.tokenizer;
  }

  /** Returns the tokens of a text, or a batch for a list of texts. */
  get encode(): OpenedModel['encode'] {
    return this.text.encode.bind(this.text);
  }

  decode(ids: readonly number[]) {
    return this.text.decode(ids);
  }

  /**
   * Returns pixels prepared by preprocessor_config.json, of RGBA bytes with width and height, such as ImageData; in a
   * page also of a canvas, an ImageBitmap or a Blob.
   */
  pixels(picture: PictureInput) {
    return this.vision.pixels(picture);
  }

  /**
   * Computes vectors of texts, of pictures, or of both and their similarities. Names in the options begin with 'text.'
   * or 'vision.': 'vision.blocks.0.weights'.
   */
  forward(
    input: TextImageInput,
    options: { capture?: readonly ValueName[]; edit?: readonly Edit[] } = {},
  ): TextImageResult {
    const caller = 'forward';
    const inputs = readTextImage(caller, this, input);
    const optionsOf = readTowerOptions(caller, options, inputs);
    const results: { text?: ModelResult; vision?: ModelResult } = {};
    try {
      for (const name of TOWERS) {
        const given = inputs[name];
        if (given !== undefined) results[name] = this[name].forwardFor(caller, given, optionsOf(name));
      }
      return this.#compare(caller, results);
    } catch (error) {
      for (const name of TOWERS) results[name]?.dispose();
      throw error;
    }
  }

  #compare(caller: string, results: { text?: ModelResult; vision?: ModelResult }) {
    const { text, vision } = results;
    const [texts, pictures] = [text && vectorsOf(text), vision && vectorsOf(vision)];
    const make = (data: ArrayLike<number>, ...shape: number[]) =>
      this.#memory.tensor({ data: Float32Array.from(data), shape }, caller, 'input');
    const rows = (vectors: Float64Array[]) =>
      make(
        vectors.flatMap((vector) => [...vector]),
        vectors.length,
        this.width,
      );
    const of = (a: Float64Array[], b: Float64Array[]) => make(similarities(a, b, this.similarity), a.length, b.length);
    return new TextImageResult(
      {
        ...(texts && { textEmbeds: rows(texts) }),
        ...(pictures && { imageEmbeds: rows(pictures) }),
        ...(texts && pictures && { logitsPerText: of(texts, pictures), logitsPerImage: of(pictures, texts) }),
      },
      results,
    );
  }

  /** Returns vectors of length 1 for texts or pictures, (N,D). Texts longer than the context are cut. */
  embed(given: string | readonly string[] | PixelInput): Tensor {
    const caller = 'embed';
    const vectors = areTexts(given) ? this.#vectorsOfTexts(caller, given) : this.#vectorsOfPixels(caller, given);
    const data = Float32Array.from(vectors.flatMap((vector) => [...vector]));
    return this.#memory.tensor({ data, shape: [vectors.length, this.width] }, caller, 'given');
  }

  /**
   * Ranks texts by their similarity with a picture, { pixels } or RGBA bytes with width and height. As in the model's
   * training, probabilities are a softmax over all texts (CLIP), or a sigmoid of each alone (SigLIP).
   */
  rank(picture: PixelInput, texts: readonly string[]): RankedText[] {
    const caller = 'rank';
    if (!Array.isArray(texts) || !areTexts(texts)) throw argumentError(caller, 'texts', texts, 'a list of texts');
    const pictures = this.#vectorsOfPixels(caller, picture);
    if (pictures.length !== 1)
      throw argumentError(caller, 'picture', `a batch of ${pictures.length}`, 'one picture; use one call for each');
    const scores = similarities(pictures, this.#vectorsOfTexts(caller, texts), this.similarity);
    const probabilities = probabilitiesOf(scores, this.similarity);
    return Array.from(scores, (score, index) => ({
      ...{ text: texts[index], probability: probabilities[index] },
      ...{ score, index },
    })).sort((a, b) => b.score - a.score);
  }

  /** Computes vectors for one text at a time, so that the bits of a vector do not depend on the other texts. */
  #vectorsOfTexts(caller: string, texts: string | readonly string[]) {
    const list = typeof texts === 'string' ? [texts] : texts;
    return list.flatMap((text) => runOnce(this.text, caller, encodeTexts(this.text, caller, text), {}, vectorsOf));
  }

  #vectorsOfPixels(caller: string, given: unknown) {
    return runOnce(this.vision, caller, readPixels(this.vision, caller, given), {}, vectorsOf);
  }

  /** Number of entries of a vector, D. */
  get width() {
    return pooledWidth(this.text.options);
  }

  /** @internal */
  get similarity(): Similarity {
    return { scale: this.logitScale, bias: this.logitBias, independent: this.#independent };
  }

  dispose() {
    this.text.dispose();
    this.vision.dispose();
  }

  [DISPOSE]() {
    this.dispose();
  }

  toString() {
    return `TextImageModel (${this.family}): vectors of ${this.width}; ${this.text}; ${this.vision}`;
  }

  /** The line that Node's console.log shows. @internal */
  [INSPECT]() {
    return this.toString();
  }
}

/** Returns the pooled vectors, each divided by its length. */
const vectorsOf = ({ pooled }: ModelResult) => unitRows((pooled as Tensor).data, (pooled as Tensor).shape[1]);
