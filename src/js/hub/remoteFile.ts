// Reads the bytes of a file on the Hub. The address of a large file is signed, valid for about an hour, and used for
// many ranges, until its server refuses it. After a failure the stream continues at the same byte.

import { type Client, type Exchange, Patience, Temporary } from './client.ts';
import { changed, hubError, unreachable } from './refusals.ts';

/** Bytes that reset the count of attempts. A server that sends a few bytes per connection is given up. */
const MIN_PROGRESS = 2 ** 16;

export class RemoteFile {
  declare path: string;
  declare size: number;

  #client: Client;
  #url: string;
  /** A small file that is read as a whole is requested without a range, so that it can be compressed. */
  #isSmall: boolean;
  #signed: string | undefined;
  /** The ETag of the file on each server that sent it. */
  #tags: Map<string, string> = new Map();
  /** False after a server has ignored a range. */
  hasRanges = true;

  constructor(client: Client, url: string, { path, size, isLarge }: { path: string; size: number; isLarge: boolean }) {
    this.#client = client;
    this.#url = url;
    this.path = path;
    this.#isSmall = !isLarge;
    this.size = size;
  }

  get place() {
    return this.#client.place;
  }

  /** Yields bytes in order. A server that ignores ranges also sends bytes before begin and after end. */
  async *stream(begin: number, end: number): AsyncGenerator<{ at: number; bytes: Uint8Array }, void> {
    const patience = new Patience(this.#client);
    let at = begin;
    let until = end;
    while (at < until) {
      let exchange: Exchange | undefined;
      try {
        const start = at;
        let position = at;
        const whole = at === 0 && until === this.size && this.#isSmall;
        ({ exchange, position } = await this.#open(at, until, whole));
        if (!this.hasRanges) until = this.size;
        const stop = position < at || !this.hasRanges ? this.size : until;
        for (let bytes = await exchange.next(); bytes; bytes = await exchange.next()) {
          if (position + bytes.length > stop)
            throw changed(this.#client.place, this.path, `it has more than ${this.size} bytes`);
          yield { at: position, bytes };
          position += bytes.length;
          at = Math.max(at, position);
          if (at - start >= MIN_PROGRESS) patience.progress();
          if (at === until) break;
        }
        if (at < until) throw this.#broken(`the connection ended after byte ${at} of ${this.size}`);
      } catch (error) {
        await patience.again(error);
      } finally {
        exchange?.close();
      }
    }
  }

  /**
   * Finds a size that is not listed. Sends no HEAD request: the length in its response may be that of a compressed
   * body.
   */
  async findSize() {
    const patience = new Patience(this.#client);
    for (;;) {
      let exchange: Exchange | undefined;
      try {
        exchange = await this.#client.send(this.#url, { Range: 'bytes=0-0' }, this.path);
        const { status, headers } = exchange.response;
        if (status === 416 && /\*\/0$/.test(headers.get('content-range') ?? '')) return (this.size = 0);
        this.#client.check(exchange, this.path);
        const length = headers.get('content-encoding') === null ? headers.get('content-length') : null;
        const size = status === 206 ? this.#readRange(headers.get('content-range')).total : Number(length ?? NaN);
        if (Number.isSafeInteger(size)) return (this.size = size);
        const { place } = this;
        throw hubError(place, 'server', `${place.id}/${this.path} cannot be read: the server does not send the size`);
      } catch (error) {
        await patience.again(error);
      } finally {
        exchange?.close();
      }
    }
  }

  /** Requests bytes. Returns the response and the position of its first byte in the file. */
  async #open(at: number, until: number, whole: boolean) {
    const used = this.#signed;
    const headers = whole ? {} : { Range: `bytes=${at}-${until - 1}` };
    const exchange = await this.#client.send(used ?? this.#url, headers as any, this.path);
    try {
      this.#check(exchange, used !== undefined);
      const { status, headers: received } = exchange.response;
      const { url } = exchange;
      this.#checkTag(url, received.get('etag'));
      if (!this.#client.isOwn(url)) this.#signed = url;
      if (status === 206 && received.get('content-range') !== null) {
        this.#checkRange(received.get('content-range'), at, until);
        return { exchange, position: at };
      }
      // Without Content-Range it is not known which bytes these are.
      if (status === 206) return { exchange: await this.#openWhole(exchange), position: 0 };
      if (!whole) this.hasRanges = false;
      return { exchange, position: 0 };
    } catch (error) {
      exchange.close();
      throw error;
    }
  }

  async #openWhole(exchange: Exchange) {
    exchange.close();
    this.hasRanges = false;
    const whole = await this.#client.send(this.#signed ?? this.#url, {}, this.path);
    if (whole.response.status === 200) return whole;
    whole.close();
    throw this.#broken(`the server sends status ${whole.response.status} for the whole file`);
  }

  #check(exchange: Exchange, wasSigned: boolean) {
    const { status } = exchange.response;
    const isOwn = this.#client.isOwn(exchange.url);
    if (status === 416) throw changed(this.#client.place, this.path, `it ends before byte ${this.size}`);
    if (!isOwn && [401, 403, 404, 410].includes(status)) {
      this.#signed = undefined;
      const error = unreachable(this.#client.place, `the server of the file responds with status ${status}`, this.path);
      throw new Temporary('server', error, wasSigned ? 0 : undefined);
    }
    this.#client.check(exchange, this.path);
  }

  /** Throws if the ETag differs from earlier ones of the server. Weak tags, W/"…", do not identify the exact bytes. */
  #checkTag(url: string, tag: string | null) {
    if (!tag?.startsWith('"')) return;
    const { origin } = new URL(url);
    const before = this.#tags.get(origin);
    if (before !== undefined && before !== tag)
      throw changed(this.#client.place, this.path, `its ETag is ${tag}, not ${before}`);
    this.#tags.set(origin, tag);
  }

  #checkRange(header: string | null, at: number, until: number) {
    const { from, to, total } = this.#readRange(header);
    if (total !== this.size) throw changed(this.#client.place, this.path, `it has ${total} bytes, not ${this.size}`);
    if (from !== at || to > until) throw this.#broken(`the server sends ${header}, expected bytes ${at}-${until - 1}`);
  }

  #readRange(header: string | null) {
    const [, ...digits] = /^bytes (\d+)-(\d+)\/(\d+)$/i.exec(header?.trim() ?? '') ?? [];
    const [from, last, total] = digits.map(Number);
    if (digits.length < 3 || !Number.isSafeInteger(total) || from > last || last >= total)
      throw this.#broken(`the server sends ${header}, expected bytes FROM-TO/TOTAL`);
    return { from, to: last + 1, total };
  }

  #broken(reason: string) {
    return new Temporary('network', unreachable(this.#client.place, reason, this.path));
  }
}
