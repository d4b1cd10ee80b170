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
  /** The preprocessor_config.json of a model of pictures or sound. */
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
   * Returns the tokens of a text or of a pair of texts; for a list, a batch for forward() that is padded at the end.
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
   * for a list of prompts, a promise of a list, each with the tokens that its prompt would get alone.
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

  /** Returns the likeliest next tokens of a causal model. input: a text, or ids; with an encoder { encoder, ids }. */
  next(input: ModelInput, n = 5) {
    return nextTokens(this.#model, input, n);
  }

  /** Returns the likeliest tokens in place of the mask, [MASK] or <mask>, of a text with one mask. */
  fill(text: string, n = 5) {
    return fillMask(this.#model, text, n);
  }

  /**
   * Returns labels, the likeliest first, of a text, { text, pair }, { pixels } or another input of forward().
   * Probabilities are a softmax or, if config.json describes independent labels, sigmoids. A model with one label has a
   * score.
   */
  classify(input: Classifiable) {
    return classify(this.#model, input);
  }

  /**
   * Returns pixels for forward() and classify(), prepared by preprocessor_config.json, of RGBA bytes with width and
   * height, such as ImageData; in a page also of a canvas, an ImageBitmap or a Blob.
   */
  async pixels(picture: PictureInput): Promise<{ pixels: { data: Float32Array; shape: [1, 3, number, number] } }> {
    const { readPicture } = await import('./readPicture.ts');
    return { pixels: await readPicture(this.#model, picture) };
  }

  /**
   * Converts sound, one channel from −1 to 1, to input for forward() by preprocessor_config.json: samples, or features
   * for Whisper's encoder.
   */
  async sound(
    samples: ArrayLike<number>,
    options: SoundInputOptions = {},
  ): Promise<{ samples: SoundNumbers } | { features: SoundNumbers }> {
    const { prepare } = await import('./transcribe.ts');
    return prepare(this.#model, samples, options);
  }

  /**
   * Returns the text of speech, one channel from −1 to 1, by Whisper (up to 30 seconds) or a model with a head for
   * letters.
   */
  async transcribe(samples: ArrayLike<number>, options: TranscribeOptions = {}): Promise<Transcription> {
    const { transcribe } = await import('./transcribe.ts');
    return transcribe(this.#model, samples, options);
  }

  /**
   * Ranks candidates, such as answers, by their scores with a text, such as a question: the only logit of a
   * cross-encoder.
   */
  rank(text: string, candidates: readonly string[]) {
    return rank(this.#model, text, candidates);
  }

  /** Returns a vector for each text, pooled from the hidden states. Texts longer than the context are cut. */
  embed(texts: string | readonly string[], options: EmbedOptions = {}) {
    return embedTexts(this.#model, this.#memory, texts, options);
  }

  /**
   * Returns the text of a conversation, such as [{ role: 'user', content: 'Hello' }], for generate(), by the chat
   * template in the model's files. A template that does too much work is refused. With `signal`, the result is a
   * promise that can be aborted.
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
