// A text that generate() continues: its tokens, and the choice of the next one.

import type { Tensor } from '../../memory/tensor.ts';
import { uniformSource } from '../../ops/random.ts';
import { sample } from '../../text/sampling.ts';
import { decodeStream, stopStream } from '../../text/stream.ts';
import type { TokenizerLike } from '../results/textMethods.ts';
import { tokenOf } from '../results/tokenOf.ts';
import type { Transformer } from '../transformer.ts';
import type { Generated, GeneratedToken, Request } from './generateOptions.ts';
import { restrictNext } from './restrictNext.ts';

/** Milliseconds of computation after which the event loop may run: less than one frame of the screen. */
const YIELD_AFTER = 12;

export class Pauses {
  #last = Date.now();

  async next() {
    if (Date.now() - this.#last <= YIELD_AFTER) return;
    await new Promise((resolve) => setTimeout(resolve));
    this.#last = Date.now();
  }
}

/** The generated tokens and their text. Text is held back while it may be part of a character or of a stop text. */
class Output {
  ids: number[] = [];
  logProbs: number[] = [];
  text = '';
  #tokenizer: TokenizerLike | undefined;
  #decoder: { push(id: number): string; end(): string; readonly holds: boolean };
  #stops: { push(text: string): { text: string; stop: string | null }; end(): string; readonly holds: boolean };
  #onToken: ((token: GeneratedToken) => unknown) | undefined;
  #held: GeneratedToken | undefined;

  constructor({ tokenizer }: Transformer, stops: readonly string[], onToken?: (token: GeneratedToken) => unknown) {
    this.#tokenizer = tokenizer;
    this.#decoder = decodeStream(tokenizer ?? { decode: () => '' });
    this.#stops = stopStream(stops);
    this.#onToken = onToken;
  }

  async #emitHeld(rest = '') {
    const held = this.#held;
    this.#held = undefined;
    if (!held) return;
    await this.#onToken?.({ ...held, text: held.text + rest });
    for (const tensor of Object.values(held.captured)) tensor.dispose();
  }

  /** captured: values that are freed when the token has been emitted; returns true if a stop text is complete */
  async add(id: number, logProb: number, captured: Record<string, Tensor> = {}): Promise<boolean> {
    await this.#emitHeld();
    this.ids.push(id);
    this.logProbs.push(logProb);
    const { text, stop } = this.#stops.push(this.#decoder.push(id));
    this.text += text;
    this.#held = { id, token: tokenOf(this.#tokenizer, id), text, logProb, captured };
    if (stop !== null || !(this.#decoder.holds || this.#stops.holds)) await this.#emitHeld();
    return stop !== null;
  }

  /** Emits the text that was held back. */
  async flush() {
    const rest = this.#stops.push(this.#decoder.end()).text + this.#stops.end();
    this.text += rest;
    await this.#emitHeld(rest);
  }
}

/**
 * Returns the largest number of generated tokens. The last one does not enter the model, so one more than `room` fits.
 */
export const limitOf = ({ max }: Request, room: number) => Math.min(max, room + 1);

/** Returns the reason why a text of maximum length has ended. */
export const fullEnd = ({ max }: Request, count: number) => (count < max ? 'context' : 'max');

export class ContinuedText {
  ended: Generated['ended'] | undefined;
  #request: Request;
  #output: Output;
  #start: number[];
  #first: number;
  #limit: number;
  #sampling: { random: () => number; temperature: number; topK: number | undefined; topP: number | undefined };

  /**
   * given: start: the prompt; past: tokens in the cache before it; room: tokens that fit after it; index: in a list of
   * prompts
   */
  constructor(
    model: Transformer,
    request: Request,
    { start, past = 0, room, index = 0 }: { start: number[]; past?: number; room: number; index?: number },
  ) {
    this.#request = request;
    const { onToken, stop } = request;
    this.#output = new Output(model, stop.texts, onToken && ((token) => onToken(token, index)));
    this.#start = start;
    this.#first = past + start.length;
    this.#limit = limitOf(request, room);
    this.#sampling = { ...request.sampling, random: uniformSource(request.seed) };
    this.#endIfFull();
  }

  get all() {
    return [...this.#start, ...this.#output.ids];
  }

  /** The tokens that enter the model next: at first the prompt, then the last generated token. */
  get next() {
    const { ids } = this.#output;
    return ids.length > 0 ? ids.slice(-1) : this.#start;
  }

  #endIfFull() {
    const { length } = this.#output.ids;
    if (length >= this.#limit) this.ended = fullEnd(this.#request, length);
  }

  /** Chooses by the logits after the last token, which it changes. captured: values of their run. */
  async choose(logits: Float32Array, captured?: Record<string, Tensor>) {
    const output = this.#output;
    const index = this.#first + output.ids.length;
    restrictNext(logits, this.#request, { before: () => this.all, index, first: this.#first });
    const { id, logProb } = sample(logits, this.#sampling);
    if (this.#request.stop.ids.has(id)) return this.end('stop');
    if (await output.add(id, logProb, captured)) {
      this.ended = 'stop';
      return;
    }
    this.#endIfFull();
    if (this.ended) await output.flush();
  }

  async end(ended: Generated['ended']) {
    this.ended = ended;
    await this.#output.flush();
  }

  get result(): Generated {
    const { ids, text, logProbs } = this.#output;
    return { ids, text, logProbs, ended: this.ended as Generated['ended'] };
  }
}

export async function textOf(model: Transformer, ids: number[]) {
  const output = new Output(model, []);
  for (const id of ids) await output.add(id, 0);
  await output.flush();
  return output.text;
}
