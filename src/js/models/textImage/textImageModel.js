// A model for texts and pictures, such as CLIP: two towers, whose pooled vectors are compared.
//
//   textEmbeds  = unit(text.pooled)      imageEmbeds = unit(vision.pooled)
//   logitsPerText = scale · textEmbeds · imageEmbedsᵀ + bias

import { argumentError } from '../../check/errors.js';
import { INSPECT } from '../../check/inspect.js';
import { DISPOSE } from '../../memory/disposable.js';
import { pooledWidth } from '../parameters.js';
import { runOnce } from '../results/oneSequence.js';
import { areTexts, encodeTexts, readPixels, readTextImage, readTowerOptions } from './textImageInput.js';
import { TextImageResult } from './textImageResult.js';
import { probabilitiesOf, similarities, unitRows } from './vectors.js';

/** @import { Memory } from '../../memory/memory.js' */
/** @import { Tensor } from '../../memory/tensor.js' */
/** @import { OpenedModel } from '../checkpoint/open.js' */
/** @import { Edit } from '../edits.js' */
/** @import { ModelResult } from '../modelResult.js' */
/** @import { PictureInput } from '../results/readPicture.js' */
/** @import { PixelInput, TextImageInput } from './textImageInput.js' */
/** @import { Similarity } from './vectors.js' */
/** @import { ValueName } from '../valueName.js' */

/**
 * score: the logit of the text; index: index of the text in the caller's list.
 * @typedef {{ text: string, probability: number, score: number, index: number }} RankedText
 */

const TOWERS = /** @type {const} */ (['text', 'vision']);

export class TextImageModel {
  #memory;
  #independent;

  /**
   * @param {Memory} memory
   * @param {{ text: OpenedModel, vision: OpenedModel }} towers
   * @param {Similarity} similarity
   * @param {Record<string, any>} config
   */
  constructor(memory, { text, vision }, { scale, bias, independent }, config) {
    this.#memory = memory;
    this.#independent = independent;
    /** The tower that reads texts: a transformer of its own. @type {OpenedModel} */
    this.text = text;
    /** The tower that reads pictures: a transformer of its own. @type {OpenedModel} */
    this.vision = vision;
    /** Factor of similarities. */
    this.logitScale = scale;
    /** Number that is added to scaled similarities; 0 for CLIP. */
    this.logitBias = bias;
    /** The config.json that it was opened with. @type {Record<string, any>} */
    this.config = config;
    /** 'clip' or 'siglip'. @type {string} */
    this.family = config.model_type;
    /** Where its files come from. */
    this.source = text.source;
    /** Tensors in its files that no tower reads. @type {string[]} */
    this.unread = text.unread;
  }

  get tokenizer() {
    return this.text.tokenizer;
  }

  /** Returns the tokens of a text, or a batch for a list of texts. @type {OpenedModel['encode']} */
  get encode() {
    return this.text.encode.bind(this.text);
  }

  /** @param {readonly number[]} ids */
  decode(ids) {
    return this.text.decode(ids);
  }

  /**
   * Returns the pixels of a picture, prepared according to the model's preprocessor_config.json.
   * @param {PictureInput} picture RGBA bytes with width and height, such as ImageData; in a page also a canvas, an
   *   ImageBitmap or a Blob
   */
  pixels(picture) {
    return this.vision.pixels(picture);
  }

  /**
   * Computes vectors of texts, of pictures, or of both and their similarities.
   * @param {TextImageInput} input
   * @param {{ capture?: readonly ValueName[], edit?: readonly Edit[] }} [options] names begin with 'text.' or
   *   'vision.':
   *   'vision.blocks.0.weights'
   * @returns {TextImageResult}
   */
  forward(input, options = {}) {
    const caller = 'forward';
    const inputs = readTextImage(caller, this, input);
    const optionsOf = readTowerOptions(caller, options, inputs);
    /** @type {{ text?: ModelResult, vision?: ModelResult }} */
    const results = {};
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

  /** @param {string} caller @param {{ text?: ModelResult, vision?: ModelResult }} results */
  #compare(caller, results) {
    const { text, vision } = results;
    const [texts, pictures] = [text && vectorsOf(text), vision && vectorsOf(vision)];
    const make = (/** @type {ArrayLike<number>} */ data, /** @type {number[]} */ ...shape) =>
      this.#memory.tensor({ data: Float32Array.from(data), shape }, caller, 'input');
    const rows = (/** @type {Float64Array[]} */ vectors) =>
      make(
        vectors.flatMap((vector) => [...vector]),
        vectors.length,
        this.width,
      );
    const of = (/** @type {Float64Array[]} */ a, /** @type {Float64Array[]} */ b) =>
      make(similarities(a, b, this.similarity), a.length, b.length);
    return new TextImageResult(
      {
        ...(texts && { textEmbeds: rows(texts) }),
        ...(pictures && { imageEmbeds: rows(pictures) }),
        ...(texts && pictures && { logitsPerText: of(texts, pictures), logitsPerImage: of(pictures, texts) }),
      },
      results,
    );
  }

  /**
   * Returns a vector of length 1 for each text or picture. A text longer than the context is cut.
   * @param {string | readonly string[] | PixelInput} given
   * @returns {Tensor} (N,D)
   */
  embed(given) {
    const caller = 'embed';
    const vectors = areTexts(given) ? this.#vectorsOfTexts(caller, given) : this.#vectorsOfPixels(caller, given);
    const data = Float32Array.from(vectors.flatMap((vector) => [...vector]));
    return this.#memory.tensor({ data, shape: [vectors.length, this.width] }, caller, 'given');
  }

  /**
   * Ranks texts by their similarity with a picture. As in the training of the model, the probabilities are a softmax
   * over all texts (CLIP), or a sigmoid of each text alone (SigLIP).
   * @param {PixelInput} picture { pixels } of one picture, or its RGBA bytes with width and height
   * @param {readonly string[]} texts
   * @returns {RankedText[]}
   */
  rank(picture, texts) {
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

  /** Computes vectors for one text at a time, so that the bits of a vector do not depend on the other texts.
   * @param {string} caller @param {string | readonly string[]} texts
   */
  #vectorsOfTexts(caller, texts) {
    const list = typeof texts === 'string' ? [texts] : texts;
    return list.flatMap((text) => runOnce(this.text, caller, encodeTexts(this.text, caller, text), {}, vectorsOf));
  }

  /** @param {string} caller @param {unknown} given */
  #vectorsOfPixels(caller, given) {
    return runOnce(this.vision, caller, readPixels(this.vision, caller, given), {}, vectorsOf);
  }

  /** Number of entries of a vector, D. */
  get width() {
    return pooledWidth(this.text.options);
  }

  /** @internal @returns {Similarity} */
  get similarity() {
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

/** Returns the pooled vectors, each divided by its length. @param {ModelResult} result */
const vectorsOf = ({ pooled }) =>
  unitRows(/** @type {Tensor} */ (pooled).data, /** @type {Tensor} */ (pooled).shape[1]);
