// Reads the bodies of HTTP responses as streams, no further than needed.

import { HeadlightError, unreadable } from '../check/errors.ts';

import type { RemoteSource } from './fetchRange.ts';

/** Minimum bytes of chunks that are combined into a Blob, which a browser may store on disk. */
const BLOCK = 2 ** 22;

/** Returns the error for a failed request or body. If the signal was aborted, returns the reason of the signal. */
export function failure({ caller, name, signal }: RemoteSource, cause: any) {
  if (signal?.aborted) return signal.reason;
  if (cause instanceof HeadlightError) return cause;
  // In Node the message is only "fetch failed" or "terminated", and the reason is in the cause of the error.
  const inner = cause?.cause instanceof Error && cause.cause.message ? `: ${cause.cause.message}` : '';
  return unreadable(caller, name, `${cause?.message ?? cause}${inner}`);
}

/** Cancels an unread body, so that the server stops sending. */
export async function discard({ body }: Response) {
  if (body && !body.locked) await body.cancel().catch(() => {});
}

/** A body of known length. No more is received than is read, apart from what the platform buffers. */
export class RangeBody {
  #source: RemoteSource;
  #reader: ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>> | undefined;
  #length: number;
  #received = 0;
  #rest = new Uint8Array(0);

  constructor(source: RemoteSource, response: Response, length: number) {
    this.#source = source;
    this.#reader = response.body?.getReader();
    this.#length = length;
  }

  async read(target: Uint8Array) {
    let at = 0;
    while (at < target.length) {
      if (this.#rest.length === 0 && !(await this.#receive())) throw this.#wrong(`${this.#received} of`);
      const part = this.#rest.subarray(0, target.length - at);
      target.set(part, at);
      at += part.length;
      this.#rest = this.#rest.subarray(part.length);
    }
  }

  /** Throws if the body continues after the expected length. */
  async end() {
    while (await this.#receive());
  }

  /** returns false at the end of the body */
  async #receive(): Promise<boolean> {
    try {
      const part = await this.#reader?.read();
      if (!part || part.done) return false;
      this.#received += part.value.length;
      if (this.#received > this.#length) throw this.#wrong('more than');
      this.#rest = part.value;
      return true;
    } catch (cause) {
      this.close();
      throw failure(this.#source, cause);
    }
  }

  #wrong(got: string) {
    this.close();
    const { caller, name } = this.#source;
    return unreadable(caller, name, `the server sends ${got} the ${this.#length} bytes of the range`);
  }

  close() {
    this.#reader?.cancel().catch(() => {});
  }
}

/**
 * A file from a server without ranges. No more is received than is read, because the body may never end. The length is
 * unknown until then: Content-Length may be missing or be that of the compressed body.
 */
export class WholeBody {
  #source: RemoteSource;
  #reader: ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>> | undefined;
  #blocks: Blob[] = [];
  #chunks: Uint8Array<ArrayBuffer>[] = [];
  #chunkBytes = 0;
  #length = 0;
  #ended = false;
  /** The previous read, for which the next read waits. */
  #pending: Promise<void> = Promise.resolve();

  constructor(source: RemoteSource, response: Response) {
    this.#source = source;
    this.#reader = response.body?.getReader();
  }

  /** The length, or Infinity until the whole body has been received. */
  get size() {
    return this.#ended ? this.#length : Infinity;
  }

  /** returns shorter if the file ends before `end` */
  async read(begin: number, end: number): Promise<Uint8Array> {
    this.#pending = this.#pending.then(() => this.#receive(end));
    await this.#pending;
    const blob = new Blob([...this.#blocks, ...this.#chunks]).slice(begin, end);
    return new Uint8Array(await blob.arrayBuffer());
  }

  async #receive(end: number) {
    try {
      while (this.#length < end && !this.#ended) {
        const { done, value } = (await this.#reader?.read()) ?? { done: true };
        if (done) this.#ended = true;
        else this.#append(value as Uint8Array<ArrayBuffer>);
      }
    } catch (cause) {
      this.close();
      throw failure(this.#source, cause);
    }
    if (this.#ended) this.#join();
  }

  #append(chunk: Uint8Array<ArrayBuffer>) {
    this.#chunks.push(chunk);
    this.#length += chunk.length;
    this.#chunkBytes += chunk.length;
    if (this.#chunkBytes >= BLOCK) this.#join();
  }

  #join() {
    if (this.#chunks.length > 0) this.#blocks.push(new Blob(this.#chunks));
    if (this.#ended) this.#blocks = [new Blob(this.#blocks)];
    this.#chunks = [];
    this.#chunkBytes = 0;
  }

  close() {
    this.#reader?.cancel().catch(() => {});
    this.#blocks = [];
    this.#chunks = [];
  }
}
