// A folder at a URL, read by ranges of bytes. Its query is added to the address of each file, because it may be the
// signature. fetch follows redirects, also to other origins.

import { unreadable } from '../../check/errors.ts';
import { fetchRange, openRange, type RemoteSource } from '../../io/fetchRange.ts';

import type { RangeBody, WholeBody } from '../../io/responseBody.ts';
import type { Folder, Stream } from './files.ts';

/** First request: a whole small file, and most headers of safetensors files. */
const FIRST_BYTES = 2 ** 14;
const MISSING = [404, 410];
const HTML = 'text/html';
/** Responses of some hosts to a request for a missing file: status 403 (forbidden), or a web page. */
const MAYBE_MISSING = [403, HTML];

export function fileUrl(folder: string, name: string) {
  const url = new URL(folder);
  url.hash = '';
  if (!url.pathname.endsWith('/')) url.pathname += '/';
  url.pathname += encodeURIComponent(name);
  return url;
}

/** Returns an address for error messages, without its query, which may be secret. */
function shownUrl({ protocol, host, pathname }: URL) {
  return protocol === 'data:' ? 'a data: URL' : `${protocol}${host ? `//${host}` : ''}${pathname}`;
}

export const remoteFolder = (
  caller: string,
  address: string,
  { signal, hint = '' }: { signal?: AbortSignal; hint?: string } = {},
): Folder => folderOf((name) => new RemoteFile(caller, fileUrl(address, name), signal), hint);

/** Returns a folder that has the same file under every name. */
export const remoteFile = (caller: string, url: URL): Folder => folderOf(() => new RemoteFile(caller, url));

function folderOf(make: (name: string) => RemoteFile, hint?: string): Folder {
  const files: Map<string, RemoteFile> = new Map();
  const fileOf = (name: string) => {
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
  #source: RemoteSource;
  #opened: Promise<void> | undefined;
  #start = new Uint8Array(0);
  #whole: WholeBody | undefined;
  #stop = new AbortController();

  constructor(caller: string, url: URL, signal?: AbortSignal) {
    const request = async (headers: Record<string, string>) => {
      signal?.throwIfAborted();
      return fetch(url, { headers, signal: this.#stop.signal });
    };
    this.#source = { caller, name: shownUrl(url), signal, request };
    signal?.addEventListener('abort', this.close);
  }

  /**
   * null without such a file; Infinity for a response without a length, until it is read. required: a response that may
   * mean a missing file is an error.
   */
  async size(required = false): Promise<number | null> {
    try {
      await this.#open();
    } catch (error: any) {
      if (MISSING.includes(error?.got) || (!required && MAYBE_MISSING.includes(error?.got))) return null;
      throw error;
    }
    return this.#whole ? this.#whole.size : (this.#source.total as number);
  }

  /** buffer: may be used for the result; returns fewer bytes if the file ends before `end` */
  async read(begin: number, end: number, buffer?: Uint8Array): Promise<Uint8Array> {
    await this.#open();
    if (this.#whole) return this.#whole.read(begin, end);
    const until = Math.min(end, this.#source.total as number);
    if (until <= Math.max(begin, this.#start.length)) return this.#start.subarray(begin, until);
    const bytes = buffer ? buffer.subarray(0, until - begin) : new Uint8Array(until - begin);
    const known = this.#start.subarray(begin);
    bytes.set(known);
    const fetched = await fetchRange(this.#source, begin + known.length, until, bytes.subarray(known.length));
    if (!fetched.whole) return bytes;
    throw this.#changed(fetched.whole);
  }

  #changed(whole: WholeBody) {
    whole.close();
    const { caller, name } = this.#source;
    return unreadable(caller, name, 'the server first sent a range, but now sends the whole file');
  }

  /** Returns the bytes from begin to end as a stream, from one response. */
  stream(begin: number, end: number): Stream {
    let at = begin;
    const body = this.#openBody(begin, end);
    // Thrown where the stream is read.
    body.catch(() => {});
    return {
      read: async (target) => {
        const opened = await body;
        const from = at;
        at += target.length;
        if (this.#whole) return this.#whole.read(from, at);
        const until = Math.min(at, this.#source.total as number);
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

  /** Requests those of the bytes begin..end−1 that the first request has not read; null if none are left. */
  async #openBody(begin: number, end: number) {
    await this.#open();
    const from = Math.max(begin, this.#start.length);
    const until = Math.min(end, this.#source.total as number);
    if (this.#whole || from >= until) return null;
    const opened = await openRange(this.#source, from, until);
    if ('whole' in opened) throw this.#changed(opened.whole);
    return opened.body as RangeBody;
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
      this.#start = fetched.bytes as Uint8Array<ArrayBuffer>;
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
