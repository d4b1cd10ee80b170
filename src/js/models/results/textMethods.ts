// The methods of a transformer that convert texts, pictures and sound to its input, and its output to texts, labels and
// vectors.

import type { Memory } from '../../memory/memory.ts';
import type { ChatOptions, ChatTemplates, Message } from '../../text/chat/chatTemplate.ts';
import type { Encoding } from '../../text/processors.ts';
import type { Generated, GenerateOptions } from '../generation/generateOptions.ts';
import { type Generation, iterable } from '../generation/generation.ts';
import type { PromptInput } from '../generation/prompts.ts';
import { type ModelInput, noTokenizer } from '../input.ts';
import type { Transformer } from '../transformer.ts';
import { type Classifiable, classify } from './classify.ts';
import { type EmbedOptions, embedTexts, type SentenceSettings } from './embedTexts.ts';
import { type EncodedBatch, encodeBatch } from './encodeBatch.ts';
import { fillMask, nextTokens } from './likelyTokens.ts';
import { wrongModel } from './oneSequence.ts';
import { rank } from './rank.ts';
import type { PictureInput } from './readPicture.ts';
import type { SoundInputOptions, SoundNumbers } from './readSound.ts';
import type { TranscribeOptions, Transcription } from './transcribe.ts';

/** The methods that a model calls on its tokenizer. Your own object may be set as `model.tokenizer`. */
export type TokenizerLike = {
  encode: (text: string, pair?: string) => Encoding;
  decode: (ids: readonly number[]) => string;
};

export class TextMethods {
  /** The settings of a sentence encoder, from its modules.json. @internal */
  declare sentence: SentenceSettings | undefined;
  /** The preprocessor_config.json of a model of pictures or sound. @internal */
  declare preprocessor: Record<string, any> | undefined;
  /** The chat templates in the model's files. @internal */
  declare chatTemplates: ChatTemplates | undefined;
  declare tokenizer: TokenizerLike | undefined;

  #memory: Memory;

  constructor(memory: Memory) {
    this.#memory = memory;
    this.sentence = undefined;
    this.preprocessor = undefined;
    this.chatTemplates = undefined;
    this.tokenizer = undefined;
  }

  /**
   * Returns the tokens of a text or of a pair of texts; for a list of texts, a batch for forward() that is padded at
   * the end.
   */
  encode(text: string, pair?: string): Encoding;
  encode(text: readonly string[]): EncodedBatch;
  encode(text: string | readonly string[], pair?: string): Encoding | EncodedBatch {
    if (!this.tokenizer) throw noTokenizer('encode', this.#model.tokenizerProblem);
    if (typeof text === 'object') return encodeBatch(this.#model, 'encode', text);
    return this.tokenizer.encode(text, pair);
  }

  decode(ids: readonly number[]) {
    if (!this.tokenizer) throw noTokenizer('decode', this.#model.tokenizerProblem);
    return this.tokenizer.decode(ids);
  }

  /**
   * Continues a text token by token. Returns a promise of the whole text that is also an async iterator of the tokens;
   * for a list of prompts, a promise of a list of results, each with the tokens that its prompt would get alone.
   * @param prompt a text, or ids; with an encoder { encoder, ids? }; or a list of these
   */
  generate<P extends ModelInput | readonly PromptInput[]>(
    prompt: P,
    options: GenerateOptions = {},
  ): P extends readonly PromptInput[] ? Promise<Generated[]> : Generation {
    return iterable(async (iterates) => {
      const { begin } = await import('../generation/generate.ts');
      return begin(this.#model, prompt, options, iterates());
    });
  }

  /**
   * Returns the likeliest next tokens of a causal model.
   * @param input a text, or ids; with an encoder { encoder, ids }
   * @param n default 5
   */
  next(input: ModelInput, n = 5) {
    return nextTokens(this.#model, input, n);
  }

  /**
   * Returns the likeliest tokens in place of the mask, [MASK] or <mask>, for a masked language model.
   * @param text with one mask
   * @param n default 5
   */
  fill(text: string, n = 5) {
    return fillMask(this.#model, text, n);
  }

  /**
   * Returns the labels of a text, a pair of texts or a picture, the likeliest first. The probabilities are a softmax
   * or, if config.json describes independent labels, sigmoids. For a model with one label, returns its score.
   * @param input a text, { text, pair }, { pixels } or another input of forward()
   */
  classify(input: Classifiable) {
    return classify(this.#model, input);
  }

  /**
   * Returns the pixels of a picture for forward() and classify(), prepared according to preprocessor_config.json.
   * @param picture RGBA bytes with width and height, such as ImageData; in a page also a canvas, an ImageBitmap or a
   *   Blob
   */
  async pixels(picture: PictureInput): Promise<{ pixels: { data: Float32Array; shape: [1, 3, number, number] } }> {
    const { readPicture } = await import('./readPicture.ts');
    return { pixels: await readPicture(this.#model, picture) };
  }

  /**
   * Converts sound to input for forward(), according to the model's preprocessor_config.json.
   * @param samples one channel, from −1 to 1
   * @returns features for Whisper's encoder
   */
  async sound(
    samples: ArrayLike<number>,
    options: SoundInputOptions = {},
  ): Promise<{ samples: SoundNumbers } | { features: SoundNumbers }> {
    const { prepare } = await import('./transcribe.ts');
    return prepare(this.#model, samples, options);
  }

  /**
   * Returns the text of speech, by Whisper or by a model with a head for letters. Whisper reads up to 30 seconds.
   * @param samples one channel, from −1 to 1
   */
  async transcribe(samples: ArrayLike<number>, options: TranscribeOptions = {}): Promise<Transcription> {
    const { transcribe } = await import('./transcribe.ts');
    return transcribe(this.#model, samples, options);
  }

  /**
   * Ranks candidates by their scores with a text, for a cross-encoder. The score is the only logit of the model.
   * @param text such as a question
   * @param candidates such as answers
   */
  rank(text: string, candidates: readonly string[]) {
    return rank(this.#model, text, candidates);
  }

  /**
   * Returns a vector for each text: the pooled hidden states of its tokens. Texts longer than the model's context are
   * cut.
   */
  embed(texts: string | readonly string[], options: EmbedOptions = {}) {
    return embedTexts(this.#model, this.#memory, texts, options);
  }

  /**
   * Returns the text of a conversation in the form on which the model was trained, by the chat template in its files.
   * Pass this text to generate(). The call is synchronous, and a template that does too much work is refused. With the
   * option `signal`, the result is a promise that can be aborted.
   * @param messages such as { role: 'user', content: 'Hello' }
   */
  chat(messages: readonly Message[], options: ChatOptions & { signal: AbortSignal }): Promise<string>;
  chat(messages: readonly Message[], options?: ChatOptions & { signal?: undefined }): string;
  chat(messages: readonly Message[], options: ChatOptions = {}): string | Promise<string> {
    const write = () => {
      if (this.chatTemplates) return this.chatTemplates.write(messages, options);
      throw wrongModel('chat', 'the files of this model have no chat template');
    };
    return (options?.signal ?? null) === null ? write() : Promise.resolve().then(write);
  }

  get #model() {
    return this as unknown as Transformer;
  }
}
