// A folder behind a URL, and one of its files, read in ranges. A query of the folder's address goes to each of its
// files: signed addresses have their key there. Redirects are followed, also to other origins, as often as fetch does.

import { unreadable } from '../../check/errors.js';
import { fetchRange } from '../../io/fetchRange.js';

/** @import { RemoteSource } from '../../io/fetchRange.js' */
/** @import { WholeBody } from '../../io/responseBody.js' */
/** @import { Folder } from './files.js' */

/** Bytes of the first request for a file: a small file is read by it, of a large one its length and most headers. */
const FIRST = 2 ** 14;
/** Responses that say that there is no such file. */
const NOT_THERE = [404, 410];
/** Responses that may say so: some hosts forbid access to files that do not exist, others send a page instead. */
const A_PAGE = 'text/html';
const MAY_BE_NOT_THERE = [403, A_PAGE];

/** The address of a file in a folder. @param {string} folder @param {string} name */
export function fileUrl(folder, name) {
  const url = new URL(folder);
  url.hash = '';
  if (!url.pathname.endsWith('/')) url.pathname += '/';
  url.pathname += encodeURIComponent(name);
  return url;
}

/** An address as an error may show it: its query may hold a key. @param {URL} url */
function shownUrl({ protocol, host, pathname }) {
  return protocol === 'data:' ? 'a data: URL' : `${protocol}${host ? `//${host}` : ''}${pathname}`;
}

/**
 * @param {string} caller
 * @param {string} address
 * @param {{ signal?: AbortSignal, hint?: string }} [how]
 * @returns {Folder}
 */
export const remoteFolder = (caller, address, { signal, hint = '' } = {}) =>
  folderOf((name) => new RemoteFile(caller, fileUrl(address, name), signal), hint);

/** A folder in which every name is that of one file. @param {string} caller @param {URL} url @returns {Folder} */
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
    read: (name, begin, end, room) => fileOf(name).read(begin, end, room),
    close: async () => {
      for (const file of files.values()) file.close();
    },
  };
}

/** A file behind a URL. The first request asks for its beginning, and says how long it is. */
export class RemoteFile {
  /** @type {RemoteSource} */
  #source;
  /** @type {Promise<void> | undefined} */
  #opened;
  #start = new Uint8Array(0);
  /** @type {WholeBody | undefined} */
  #whole;
  /** Ends requests that are under way. */
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
   * @param {boolean} [required] a response that may say that there is no such file is an error
   * @returns {Promise<number | null>} null if there is no such file; Infinity if it comes whole, until it has come
   */
  async size(required = false) {
    try {
      await this.#open();
    } catch (/** @type {any} */ error) {
      if (NOT_THERE.includes(error?.got) || (!required && MAY_BE_NOT_THERE.includes(error?.got))) return null;
      throw error;
    }
    return this.#whole ? this.#whole.size : /** @type {number} */ (this.#source.total);
  }

  /**
   * @param {number} begin
   * @param {number} end
   * @param {Uint8Array} [room]
   * @returns {Promise<Uint8Array>} less where the file ends before
   */
  async read(begin, end, room) {
    await this.#open();
    if (this.#whole) return this.#whole.read(begin, end);
    const until = Math.min(end, /** @type {number} */ (this.#source.total));
    if (until <= Math.max(begin, this.#start.length)) return this.#start.subarray(begin, until);
    const bytes = room ? room.subarray(0, until - begin) : new Uint8Array(until - begin);
    const known = this.#start.subarray(begin);
    bytes.set(known);
    const fetched = await fetchRange(this.#source, begin + known.length, until, bytes.subarray(known.length));
    if (!fetched.whole) return bytes;
    fetched.whole.close();
    throw unreadable(this.#source.caller, this.#source.name, 'the server sent a range before, and now the whole file');
  }

  /** Nothing can be read any more. */
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
    const fetched = await fetchRange(this.#source, 0, FIRST);
    if (fetched.whole) this.#whole = fetched.whole;
    else {
      this.#start = /** @type {Uint8Array<ArrayBuffer>} */ (fetched.bytes);
      Object.assign(this.#source, { total: fetched.total, tag: fetched.tag });
    }
    if (!fetched.type.startsWith(A_PAGE)) return;
    const start = fetched.whole ? await fetched.whole.read(0, FIRST) : this.#start;
    if (!/^\s*</.test(new TextDecoder().decode(start))) return;
    this.close();
    const { caller, name } = this.#source;
    throw unreadable(caller, name, `the server sends a web page (${A_PAGE}) in its place`, { got: A_PAGE });
  }
}
