// The bodies of HTTP responses, read as streams: never further than what is asked for.

import { HeadlightError, unreadable } from '../check/errors.js';

/** @import { RemoteSource } from './fetchRange.js' */

/** Chunks of a body are joined to a Blob, which a browser may put on disk, when they have so many bytes. */
const BLOCK = 2 ** 22;

/**
 * The error for a request or a body that broke off: the signal's own reason if it was aborted.
 * @param {RemoteSource} source
 * @param {any} cause
 */
export function failure({ caller, name, signal }, cause) {
  if (signal?.aborted) return signal.reason;
  if (cause instanceof HeadlightError) return cause;
  // Node says only "fetch failed" or "terminated", and the reason in the cause of that.
  const inner = cause?.cause instanceof Error && cause.cause.message ? `: ${cause.cause.message}` : '';
  return unreadable(caller, name, `${cause?.message ?? cause}${inner}`);
}

/** Ends a response whose body is not read to its end, so that the server stops sending. @param {Response} response */
export async function discard({ body }) {
  if (body && !body.locked) await body.cancel().catch(() => {});
}

/**
 * Reads a body that must be exactly as long as the room for it.
 * @param {RemoteSource} source
 * @param {Response} response
 * @param {Uint8Array} room
 */
export async function fill(source, response, room) {
  const reader = response.body?.getReader();
  const wrong = (/** @type {string} */ got) =>
    unreadable(source.caller, source.name, `the server sends ${got} the ${room.length} bytes of the range`);
  let at = 0;
  try {
    for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) {
      if (at + part.value.length > room.length) throw wrong('more than');
      room.set(part.value, at);
      at += part.value.length;
    }
    if (at < room.length) throw wrong(`${at} of`);
  } catch (cause) {
    reader?.cancel().catch(() => {});
    throw failure(source, cause);
  }
}

/**
 * A file that a server sends whole, because it knows no ranges. It is received as far as it is read: the length that
 * the server claims may be that of the compressed file, or missing, and the body may never end.
 */
export class WholeBody {
  #source;
  #reader;
  /** @type {Blob[]} */
  #blocks = [];
  /** Chunks that are not in a block yet. @type {Uint8Array<ArrayBuffer>[]} */
  #chunks = [];
  #loose = 0;
  #length = 0;
  #ended = false;
  /** One part is received at a time. @type {Promise<void>} */
  #turn = Promise.resolve();

  /** @param {RemoteSource} source @param {Response} response */
  constructor(source, response) {
    this.#source = source;
    this.#reader = response.body?.getReader();
  }

  /** The length, once all of it has been received; until then Infinity. */
  get size() {
    return this.#ended ? this.#length : Infinity;
  }

  /**
   * @param {number} begin
   * @param {number} end
   * @returns {Promise<Uint8Array>} less where the file ends before
   */
  async read(begin, end) {
    this.#turn = this.#turn.then(() => this.#receive(end));
    await this.#turn;
    const blob = new Blob([...this.#blocks, ...this.#chunks]).slice(begin, end);
    return new Uint8Array(await blob.arrayBuffer());
  }

  /** @param {number} end */
  async #receive(end) {
    try {
      while (this.#length < end && !this.#ended) {
        const { done, value } = (await this.#reader?.read()) ?? { done: true };
        if (done) this.#ended = true;
        else this.#keep(/** @type {Uint8Array<ArrayBuffer>} */ (value));
      }
    } catch (cause) {
      this.close();
      throw failure(this.#source, cause);
    }
    if (this.#ended) this.#join();
  }

  /** @param {Uint8Array<ArrayBuffer>} chunk */
  #keep(chunk) {
    this.#chunks.push(chunk);
    this.#length += chunk.length;
    this.#loose += chunk.length;
    if (this.#loose >= BLOCK) this.#join();
  }

  #join() {
    if (this.#chunks.length > 0) this.#blocks.push(new Blob(this.#chunks));
    if (this.#ended) this.#blocks = [new Blob(this.#blocks)];
    this.#chunks = [];
    this.#loose = 0;
  }

  /** Stops the server, and forgets what it has sent. */
  close() {
    this.#reader?.cancel().catch(() => {});
    this.#blocks = [];
    this.#chunks = [];
  }
}
