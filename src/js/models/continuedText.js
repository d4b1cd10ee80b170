// A text that generate() continues: its tokens, and the choice of the next token.

import { uniformSource } from '../ops/random.js';
import { sample } from '../text/sampling.js';
import { decodeStream, stopStream } from '../text/stream.js';
import { restrictNext } from './restrictNext.js';
import { tokenOf } from './results/tokenOf.js';

/** @import { Tensor } from '../memory/tensor.js' */
/** @import { Generated, GeneratedToken, Request } from './generateOptions.js' */
/** @import { Transformer } from './transformer.js' */

/** Milliseconds of computation after which the event loop may run: less than one frame of the screen. */
const YIELD_AFTER = 12;

/** Lets the event loop run between tokens. */
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
  /** @type {number[]} */
  ids = [];
  /** @type {number[]} */
  logProbs = [];
  text = '';
  #tokenizer;
  #decoder;
  #stops;
  #onToken;
  /**
   * The last token, if it is held back.
   * @type {GeneratedToken | undefined}
   */
  #held;

  /**
   * @param {Transformer} model
   * @param {readonly string[]} stops
   * @param {(token: GeneratedToken) => unknown} [onToken]
   */
  constructor({ tokenizer }, stops, onToken) {
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

  /**
   * @param {number} id
   * @param {number} logProb
   * @param {Record<string, Tensor>} [captured] values that are freed when the token has been emitted
   * @returns {Promise<boolean>} true if a stop text is complete
   */
  async add(id, logProb, captured = {}) {
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

/** Returns the largest number of generated tokens. The last one does not enter the model, so one more than `room` fits.
 * @param {Request} request @param {number} room */
export const limitOf = ({ max }, room) => Math.min(max, room + 1);

/** Returns the reason why a text of maximum length has ended. @param {Request} request @param {number} count */
export const fullEnd = ({ max }, count) => (count < max ? 'context' : 'max');

export class ContinuedText {
  /** @type {Generated['ended'] | undefined} */
  ended;
  #request;
  #output;
  #start;
  #first;
  #limit;
  #sampling;

  /**
   * @param {Transformer} model
   * @param {Request} request
   * @param {{ start: number[], past?: number, room: number, index?: number }} given start: the prompt; past: number of
   *   tokens in the cache before the prompt; room: number of tokens that fit after it; index: index of the prompt in a
   *   list of prompts
   */
  constructor(model, request, { start, past = 0, room, index = 0 }) {
    this.#request = request;
    const { onToken, stop } = request;
    this.#output = new Output(model, stop.texts, onToken && ((token) => onToken(token, index)));
    this.#start = start;
    this.#first = past + start.length;
    this.#limit = limitOf(request, room);
    this.#sampling = { ...request.sampling, random: uniformSource(request.seed) };
    this.#endIfFull();
  }

  /** The prompt and the generated tokens. */
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

  /**
   * Chooses the next token by the logits after the last token, and changes these logits.
   * @param {Float32Array} logits
   * @param {Record<string, Tensor>} [captured] values of the run that computed the logits
   */
  async choose(logits, captured) {
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

  /** @param {Generated['ended']} ended */
  async end(ended) {
    this.ended = ended;
    await this.#output.flush();
  }

  /** @returns {Generated} */
  get result() {
    const { ids, text, logProbs } = this.#output;
    return { ids, text, logProbs, ended: /** @type {Generated['ended']} */ (this.ended) };
  }
}

/** Returns the text of all tokens. @param {Transformer} model @param {number[]} ids */
export async function textOf(model, ids) {
  const output = new Output(model, []);
  for (const id of ids) await output.add(id, 0);
  await output.flush();
  return output.text;
}
