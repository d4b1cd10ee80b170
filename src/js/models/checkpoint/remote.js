// A folder at a URL, whose files are read by ranges of bytes. The query of the folder's address is added to the address
// of each file, because it may contain the signature of the address. fetch follows redirects, also to other origins.

import { unreadable } from '../../check/errors.js';
import { fetchRange, openRange } from '../../io/fetchRange.js';

/** @import { RemoteSource } from '../../io/fetchRange.js' */
/** @import { RangeBody, WholeBody } from '../../io/responseBody.js' */
/** @import { Folder, Stream } from './files.js' */

/**
 * Number of bytes of the first request for a file: enough for a whole small file, and for most headers of safetensors
 * files.
 */
const FIRST_BYTES = 2 ** 14;
/** HTTP statuses for a missing file. */
const MISSING = [404, 410];
const HTML = 'text/html';
/** Responses of some hosts to a request for a missing file: status 403 (forbidden), or a web page. */
const MAYBE_MISSING = [403, HTML];

/** Returns the address of a file in a folder. @param {string} folder @param {string} name */
export function fileUrl(folder, name) {
  const url = new URL(folder);
  url.hash = '';
  if (!url.pathname.endsWith('/')) url.pathname += '/';
  url.pathname += encodeURIComponent(name);
  return url;
}

/** Returns an address for error messages, without its query, which may be secret. @param {URL} url */
function shownUrl({ protocol, host, pathname }) {
  return protocol === 'data:' ? 'a data: URL' : `${protocol}${host ? `//${host}` : ''}${pathname}`;
}

/**
 * @param {string} caller
 * @param {string} address
 * @param {{ signal?: AbortSignal, hint?: string }} [options]
 * @returns {Folder}
 */
export const remoteFolder = (caller, address, { signal, hint = '' } = {}) =>
  folderOf((name) => new RemoteFile(caller, fileUrl(address, name), signal), hint);

/**
 * Returns a folder that has the same file under every name.
 * @param {string} caller
 * @param {URL} url
 * @returns {Folder}
 */
export const remoteFile = (caller, url) => folderOf(() => new RemoteFile(caller, url));

/** @param {(name: string) => RemoteFile} make @param {string} [hint] @returns {Folder} */
function folderOf(make, hint) {
  /** @type {Map<string, RemoteFile>} */
  const files = new Map();
  const fileOf = (/** @type {string} */ name) => {
    const file = files.get(name) ?? make(name);
    files.set(name, file);
    return file;
  };
  return {
    names: null,
    hint,
    size: (name, required) => fileOf(name).size(required),
    read: (name, begin, end, buffer) => fileOf(name).read(begin, end, buffer),
    stream: (name, begin, end) => fileOf(name).stream(begin, end),
    close: async () => {
      for (const file of files.values()) file.close();
    },
  };
}

/** A file at a URL. The first request reads the beginning of the file and its length. */
export class RemoteFile {
  /** @type {RemoteSource} */
  #source;
  /** @type {Promise<void> | undefined} */
  #opened;
  #start = new Uint8Array(0);
  /** @type {WholeBody | undefined} */
  #whole;
  /** Aborts running requests. */
  #stop = new AbortController();

  /** @param {string} caller @param {URL} url @param {AbortSignal} [signal] */
  constructor(caller, url, signal) {
    const request = async (/** @type {Record<string, string>} */ headers) => {
      signal?.throwIfAborted();
      return fetch(url, { headers, signal: this.#stop.signal });
    };
    this.#source = { caller, name: shownUrl(url), signal, request };
    signal?.addEventListener('abort', this.close);
  }

  /**
   * @param {boolean} [required] true: a response that may mean a missing file is an error
   * @returns {Promise<number | null>} null if there is no such file; Infinity for a response without a
   *   length, until it has been read
   */
  async size(required = false) {
    try {
      await this.#open();
    } catch (/** @type {any} */ error) {
      if (MISSING.includes(error?.got) || (!required && MAYBE_MISSING.includes(error?.got))) return null;
      throw error;
    }
    return this.#whole ? this.#whole.size : /** @type {number} */ (this.#source.total);
  }

  /**
   * @param {number} begin
   * @param {number} end
   * @param {Uint8Array} [buffer] may be used for the result
   * @returns {Promise<Uint8Array>} fewer bytes if the file ends before `end`
   */
  async read(begin, end, buffer) {
    await this.#open();
    if (this.#whole) return this.#whole.read(begin, end);
    const until = Math.min(end, /** @type {number} */ (this.#source.total));
    if (until <= Math.max(begin, this.#start.length)) return this.#start.subarray(begin, until);
    const bytes = buffer ? buffer.subarray(0, until - begin) : new Uint8Array(until - begin);
    const known = this.#start.subarray(begin);
    bytes.set(known);
    const fetched = await fetchRange(this.#source, begin + known.length, until, bytes.subarray(known.length));
    if (!fetched.whole) return bytes;
    throw this.#changed(fetched.whole);
  }

  /** @param {WholeBody} whole */
  #changed(whole) {
    whole.close();
    const { caller, name } = this.#source;
    return unreadable(caller, name, 'the server first sent a range, but now sends the whole file');
  }

  /**
   * Returns the bytes from begin to end as a stream, from one response.
   * @param {number} begin
   * @param {number} end
   * @returns {Stream}
   */
  stream(begin, end) {
    let at = begin;
    const body = this.#openBody(begin, end);
    // A failure is thrown where the stream is read.
    body.catch(() => {});
    return {
      read: async (target) => {
        const opened = await body;
        const from = at;
        at += target.length;
        if (this.#whole) return this.#whole.read(from, at);
        const until = Math.min(at, /** @type {number} */ (this.#source.total));
        const known = this.#start.subarray(from, until);
        target.set(known);
        const bytes = target.subarray(0, Math.max(until - from, 0));
        await opened?.read(bytes.subarray(known.length));
        if (until === end) await opened?.end();
        return bytes;
      },
      close: () => void body.then((opened) => opened?.close()).catch(() => {}),
    };
  }

  /**
   * Requests those of the bytes begin..end−1 that the first request has not read; null if none are left.
   * @param {number} begin
   * @param {number} end
   */
  async #openBody(begin, end) {
    await this.#open();
    const from = Math.max(begin, this.#start.length);
    const until = Math.min(end, /** @type {number} */ (this.#source.total));
    if (this.#whole || from >= until) return null;
    const opened = await openRange(this.#source, from, until);
    if ('whole' in opened) throw this.#changed(opened.whole);
    return /** @type {RangeBody} */ (opened.body);
  }

  /** Aborts requests; nothing can be read afterwards. */
  close = () => {
    this.#source.signal?.removeEventListener('abort', this.close);
    this.#stop.abort();
    this.#whole?.close();
  };

  #open() {
    this.#opened ??= this.#readStart();
    return this.#opened;
  }

  async #readStart() {
    const fetched = await fetchRange(this.#source, 0, FIRST_BYTES);
    if (fetched.whole) this.#whole = fetched.whole;
    else {
      this.#start = /** @type {Uint8Array<ArrayBuffer>} */ (fetched.bytes);
      Object.assign(this.#source, { total: fetched.total, tag: fetched.tag });
    }
    if (!fetched.type.startsWith(HTML)) return;
    const start = fetched.whole ? await fetched.whole.read(0, FIRST_BYTES) : this.#start;
    if (!/^\s*</.test(new TextDecoder().decode(start))) return;
    this.close();
    const { caller, name } = this.#source;
    throw unreadable(caller, name, `the server sends a web page (${HTML}) instead of the file`, { got: HTML });
  }
}
