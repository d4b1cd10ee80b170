// The methods of a transformer that convert texts, pictures and sound to its input, and its output to texts, labels and
// vectors.

import { iterable } from '../generation.js';
import { noTokenizer } from '../input.js';
import { classify } from './classify.js';
import { embedTexts } from './embedTexts.js';
import { encodeBatch } from './encodeBatch.js';
import { fillMask, nextTokens } from './likelyTokens.js';
import { wrongModel } from './oneSequence.js';
import { rank } from './rank.js';

/** @import { ChatOptions, ChatTemplates, Message } from '../../text/chat/chatTemplate.js' */
/** @import { Memory } from '../../memory/memory.js' */
/** @import { Generated, GenerateOptions } from '../generateOptions.js' */
/** @import { Generation } from '../generation.js' */
/** @import { ModelInput } from '../input.js' */
/** @import { PromptInput } from '../prompts.js' */
/** @import { Transformer } from '../transformer.js' */
/** @import { Classifiable } from './classify.js' */
/** @import { EncodedBatch } from './encodeBatch.js' */
/** @import { Encoding } from '../../text/processors.js' */
/** @import { PictureInput } from './readPicture.js' */
/** @import { SoundInputOptions, SoundNumbers } from './readSound.js' */
/** @import { TranscribeOptions, Transcription } from './transcribe.js' */
/** @import { EmbedOptions, SentenceSettings } from './embedTexts.js' */

/**
 * The methods that a model calls on its tokenizer. Your own object may be set as `model.tokenizer`.
 * @typedef {object} TokenizerLike
 * @property {(text: string, pair?: string) => Encoding} encode
 * @property {(ids: readonly number[]) => string} decode
 */

export class TextMethods {
  #memory;

  /** @param {Memory} memory */
  constructor(memory) {
    this.#memory = memory;
    /** The settings of a sentence encoder, from its modules.json. @internal @type {SentenceSettings | undefined} */
    this.sentence = undefined;
    /**
     * The preprocessor_config.json of a model of pictures or sound.
     * @internal
     * @type {Record<string, any> | undefined}
     */
    this.preprocessor = undefined;
    /** The chat templates in the model's files. @internal @type {ChatTemplates | undefined} */
    this.chatTemplates = undefined;
    /** @type {TokenizerLike | undefined} */
    this.tokenizer = undefined;
  }

  /**
   * Returns the tokens of a text or of a pair of texts; for a list of texts, a batch for forward() that is padded at
   * the end.
   * @overload
   * @param {string} text
   * @param {string} [pair]
   * @returns {Encoding}
   */
  /**
   * @overload
   * @param {readonly string[]} text
   * @returns {EncodedBatch}
   */
  /** @param {string | readonly string[]} text @param {string} [pair] @returns {Encoding | EncodedBatch} */
  encode(text, pair) {
    if (!this.tokenizer) throw noTokenizer('encode', this.#model.tokenizerProblem);
    if (typeof text === 'object') return encodeBatch(this.#model, 'encode', text);
    return this.tokenizer.encode(text, pair);
  }

  /** @param {readonly number[]} ids */
  decode(ids) {
    if (!this.tokenizer) throw noTokenizer('decode', this.#model.tokenizerProblem);
    return this.tokenizer.decode(ids);
  }

  /**
   * Continues a text token by token. Returns a promise of the whole text that is also an async iterator of the tokens;
   * for a list of prompts, a promise of a list of results, each with the tokens that its prompt would get alone.
   * @template {ModelInput | readonly PromptInput[]} P
   * @param {P} prompt a text, or ids; with an encoder { encoder, ids? }; or a list of these
   * @param {GenerateOptions} [options]
   * @returns {P extends readonly PromptInput[] ? Promise<Generated[]> : Generation}
   */
  generate(prompt, options = {}) {
    return iterable(async (iterates) => {
      const { begin } = await import('../generate.js');
      return begin(this.#model, prompt, options, iterates());
    });
  }

  /**
   * Returns the likeliest next tokens of a causal model.
   * @param {ModelInput} input a text, or ids; with an encoder { encoder, ids }
   * @param {number} [n] default 5
   */
  next(input, n = 5) {
    return nextTokens(this.#model, input, n);
  }

  /**
   * Returns the likeliest tokens in place of the mask, [MASK] or <mask>, for a masked language model.
   * @param {string} text with one mask
   * @param {number} [n] default 5
   */
  fill(text, n = 5) {
    return fillMask(this.#model, text, n);
  }

  /**
   * Returns the labels of a text, a pair of texts or a picture, the likeliest first. The probabilities are a softmax
   * or, if config.json describes independent labels, sigmoids. For a model with one label, returns its score.
   * @param {Classifiable} input a text, { text, pair }, { pixels } or another input of forward()
   */
  classify(input) {
    return classify(this.#model, input);
  }

  /**
   * Returns the pixels of a picture for forward() and classify(), prepared according to preprocessor_config.json.
   * @param {PictureInput} picture RGBA bytes with width and height, such as ImageData; in a page also a canvas, an
   *   ImageBitmap or a Blob
   * @returns {Promise<{ pixels: { data: Float32Array, shape: [1, 3, number, number] } }>}
   */
  async pixels(picture) {
    const { readPicture } = await import('./readPicture.js');
    return { pixels: await readPicture(this.#model, picture) };
  }

  /**
   * Converts sound to input for forward(), according to the model's preprocessor_config.json.
   * @param {ArrayLike<number>} samples one channel, from −1 to 1
   * @param {SoundInputOptions} [options]
   * @returns {Promise<{ samples: SoundNumbers } | { features: SoundNumbers }>} features for Whisper's encoder
   */
  async sound(samples, options = {}) {
    const { prepare } = await import('./transcribe.js');
    return prepare(this.#model, samples, options);
  }

  /**
   * Returns the text of speech, by Whisper or by a model with a head for letters. Whisper reads up to 30 seconds.
   * @param {ArrayLike<number>} samples one channel, from −1 to 1
   * @param {TranscribeOptions} [options]
   * @returns {Promise<Transcription>}
   */
  async transcribe(samples, options = {}) {
    const { transcribe } = await import('./transcribe.js');
    return transcribe(this.#model, samples, options);
  }

  /**
   * Ranks candidates by their scores with a text, for a cross-encoder. The score is the only logit of the model.
   * @param {string} text such as a question
   * @param {readonly string[]} candidates such as answers
   */
  rank(text, candidates) {
    return rank(this.#model, text, candidates);
  }

  /**
   * Returns a vector for each text: the pooled hidden states of its tokens. Texts longer than the model's context are
   * cut.
   * @param {string | readonly string[]} texts
   * @param {EmbedOptions} [options]
   */
  embed(texts, options = {}) {
    return embedTexts(this.#model, this.#memory, texts, options);
  }

  /**
   * Returns the text of a conversation in the form on which the model was trained, by the chat template in its files.
   * Pass this text to generate(). The call is synchronous, and a template that does too much work is refused. With the
   * option `signal`, the result is a promise that can be aborted.
   * @overload
   * @param {readonly Message[]} messages such as { role: 'user', content: 'Hello' }
   * @param {ChatOptions & { signal: AbortSignal }} options
   * @returns {Promise<string>}
   */
  /**
   * @overload
   * @param {readonly Message[]} messages
   * @param {ChatOptions & { signal?: undefined }} [options]
   * @returns {string}
   */
  /** @param {readonly Message[]} messages @param {ChatOptions} [options] @returns {string | Promise<string>} */
  chat(messages, options = {}) {
    const write = () => {
      if (this.chatTemplates) return this.chatTemplates.write(messages, options);
      throw wrongModel('chat', 'the files of this model have no chat template');
    };
    return (options?.signal ?? null) === null ? write() : Promise.resolve().then(write);
  }

  get #model() {
    return /** @type {Transformer} */ (/** @type {unknown} */ (this));
  }
}
