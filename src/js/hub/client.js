// Sends requests to the Hub and to the servers of its files. The token is sent only to the origin of the endpoint. In
// Node this client follows redirects and omits the token for other origins. In a page the browser follows redirects and
// also omits the token.

import { hubError, limited, refusal, unreachable } from './refusals.js';

/** @import { HubWait } from './options.js' */
/** @import { Place } from './refusals.js' */
/** @import { HubError } from './types.js' */

const MAX_REDIRECTS = 10;
/** Milliseconds of waiting for MIN_BYTES after which a connection counts as broken. */
const MAX_SILENCE = 60_000;
const MIN_BYTES = 1024;
/** Attempts without any progress before an error is thrown. */
const MAX_ATTEMPTS = 5;
/** Seconds before the first repeated attempt, after a failure or after a rate limit. Later waits double each time. */
const [FIRST_WAIT, FIRST_LIMIT_WAIT] = [0.25, 5];
/**
 * Maximum seconds that the client waits if the Hub requests it. The rate limit of the Hub counts requests in windows of
 * five minutes.
 */
const MAX_WAIT = 330;
const MAX_JSON = 64 * 2 ** 20;
const REDIRECTS = [301, 302, 303, 307, 308];

/** A failure after which the request can be repeated. */
export class Temporary extends Error {
  /**
   * @param {HubWait['reason']} reason
   * @param {HubError} error to throw if the request is not repeated
   * @param {number} [seconds] seconds to wait as requested by the Hub; 0 to repeat immediately
   */
  constructor(reason, error, seconds) {
    super(error.message);
    this.reason = reason;
    this.error = error;
    this.seconds = seconds;
  }
}

export class Client {
  /** @type {Set<Exchange>} */
  #running = new Set();
  #closed = new AbortController();
  #token;
  #origin;

  /**
   * @param {Place} place
   * @param {{ token?: string, signal?: AbortSignal, onWait?: (wait: HubWait) => unknown, follow: boolean }} options
   *   follow: true if fetch follows redirects, which a page cannot see; false if this client follows them
   */
  constructor(place, { token, signal, onWait, follow }) {
    this.place = place;
    this.signal = signal;
    this.onWait = onWait;
    this.follow = follow;
    this.#token = token;
    this.#origin = new URL(place.endpoint).origin;
    signal?.addEventListener('abort', this.close);
  }

  /** @param {string} url */
  isOwn = (url) => new URL(url).origin === this.#origin;

  /**
   * Sends a request, and follows redirects if fetch does not.
   * @param {string} url
   * @param {Record<string, string>} [headers]
   * @param {string} [path] path of the file, for errors
   * @returns {Promise<Exchange>}
   */
  async send(url, headers = {}, path) {
    for (let at = url, i = 0; i < MAX_REDIRECTS; i++) {
      this.throwIfClosed();
      const exchange = new Exchange(this, path);
      this.#running.add(exchange);
      const own = this.#token !== undefined && this.isOwn(at);
      await exchange.send(at, own ? { ...headers, Authorization: `Bearer ${this.#token}` } : headers);
      const location = exchange.response.headers.get('location');
      if (this.follow || !REDIRECTS.includes(exchange.response.status) || location === null) return exchange;
      exchange.close();
      at = this.#target(location, at, path);
    }
    throw unreachable(this.place, `more than ${MAX_REDIRECTS} redirects`, path);
  }

  /** @param {string} location @param {string} from @param {string} [path] */
  #target(location, from, path) {
    let reason = 'something that is not a web address';
    try {
      const url = new URL(location, from);
      const hasPassword = url.username !== '' || url.password !== '';
      if (hasPassword) reason = 'an address with a user name or a password';
      else if (/^https?:$/.test(url.protocol)) return url.href;
    } catch {
      // The error is thrown below.
    }
    throw unreachable(this.place, `a redirect to ${reason}`, path);
  }

  /**
   * Requests JSON. Returns it with the headers and the final address of the response. Temporary failures are repeated.
   * @param {string} url
   * @param {{ attempts?: number }} [options]
   * @returns {Promise<{ value: any, headers: Headers, url: string }>}
   */
  async json(url, { attempts = MAX_ATTEMPTS } = {}) {
    const patience = new Patience(this, attempts);
    for (;;) {
      /** @type {Exchange | undefined} */
      let exchange;
      try {
        exchange = await this.send(url, { Accept: 'application/json' });
        this.check(exchange);
        const { response } = exchange;
        return {
          value: parse(await exchange.text(MAX_JSON), this.place),
          headers: response.headers,
          url: exchange.url,
        };
      } catch (error) {
        await patience.again(error);
      } finally {
        exchange?.close();
      }
    }
  }

  /** Throws unless the status of a response is 200 or 206. @param {Exchange} exchange @param {string} [path] */
  check({ response, url }, path) {
    const { status, headers } = response;
    if (status === 200 || status === 206) return;
    if (status === 429) {
      const seconds = secondsOf(headers);
      const told = seconds === undefined || seconds > MAX_WAIT ? undefined : seconds;
      const error = limited(this.place, Math.ceil(seconds ?? 0));
      if (seconds !== undefined && told === undefined) throw error;
      throw new Temporary('rateLimit', error, told);
    }
    const error = refusal(this.place, response, path, this.isOwn(url));
    throw status >= 500 || status === 408 ? new Temporary('server', error) : error;
  }

  /** @param {Exchange} exchange */
  ended = (exchange) => void this.#running.delete(exchange);

  throwIfClosed() {
    this.signal?.throwIfAborted();
    this.#closed.signal.throwIfAborted();
  }

  /** @param {number} seconds */
  async wait(seconds) {
    this.throwIfClosed();
    const { signal } = this.#closed;
    /** @type {() => void} */
    let stop = () => {};
    const stopped = new Promise((resolve) => {
      stop = () => resolve(undefined);
      signal.addEventListener('abort', stop, { once: true });
    });
    const timer = setTimeout(stop, seconds * 1000);
    await stopped;
    clearTimeout(timer);
    signal.removeEventListener('abort', stop);
    this.throwIfClosed();
  }

  /** Aborts all requests. */
  close = () => {
    this.signal?.removeEventListener('abort', this.close);
    this.#closed.abort();
    for (const exchange of [...this.#running]) exchange.close();
  };
}

/**
 * Returns the seconds to wait after status 429, from a header such as RateLimit: "resolvers";r=0;t=37, or Retry-After:
 * 37.
 * @param {Headers} headers
 */
function secondsOf(headers) {
  const text = /;\s*t=(\d+)/.exec(headers.get('ratelimit') ?? '')?.[1] ?? headers.get('retry-after');
  return text !== null && /^\d+$/.test(text.trim()) ? Number(text) : undefined;
}

/** @param {string} text @param {Place} place */
function parse(text, place) {
  try {
    return JSON.parse(text);
  } catch {
    // The message of the cause would repeat text of the server, which may contain the token.
    throw hubError(place, 'server', `${place.endpoint} does not send JSON: it is not the Hub or a mirror`);
  }
}

/** Counts failures without progress, and waits after each. */
export class Patience {
  #failures = 0;
  #client;
  #attempts;

  /** @param {Client} client @param {number} [attempts] */
  constructor(client, attempts = MAX_ATTEMPTS) {
    this.#client = client;
    this.#attempts = attempts;
  }

  progress() {
    this.#failures = 0;
  }

  /** Waits until the request may be repeated; throws if it may not. @param {unknown} error */
  async again(error) {
    this.#client.throwIfClosed();
    if (!(error instanceof Temporary)) throw error;
    const isLimit = error.reason === 'rateLimit';
    if (++this.#failures >= (isLimit ? MAX_ATTEMPTS : this.#attempts)) throw error.error;
    const seconds = error.seconds ?? (isLimit ? FIRST_LIMIT_WAIT : FIRST_WAIT) * 2 ** (this.#failures - 1);
    if (seconds === 0) return;
    await this.#client.onWait?.({ seconds, reason: error.reason });
    await this.#client.wait(seconds);
  }
}

/**
 * A request and its response. The body is read in chunks. Reading fails if fewer than MIN_BYTES arrive in MAX_SILENCE.
 */
export class Exchange {
  #client;
  #path;
  #stop = new AbortController();
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;
  /** Milliseconds that were spent waiting for #bytes, the bytes since MIN_BYTES were complete. */
  #waited = 0;
  #bytes = 0;
  /** @type {ReadableStreamDefaultReader<Uint8Array> | undefined} */
  #reader;
  /** @type {any} */
  response;
  url = '';

  /** @param {Client} client @param {string} [path] */
  constructor(client, path) {
    this.#client = client;
    this.#path = path;
  }

  /** @param {string} url @param {Record<string, string>} headers */
  async send(url, headers) {
    // The browser's own cache is not used, because a cached part of a file may belong to another response, and files of
    // gigabytes would displace everything else.
    const options = /** @type {const} */ ({ cache: 'no-store', credentials: 'omit', referrerPolicy: 'no-referrer' });
    const redirect = this.#client.follow ? 'follow' : 'manual';
    this.response = await this.#limited(fetch(url, { ...options, redirect, headers, signal: this.#stop.signal }));
    this.url = this.response.url || url;
    this.#waited = 0;
  }

  /** Reads the next bytes of the body. @returns {Promise<Uint8Array | undefined>} */
  async next() {
    this.#reader ??= this.response.body?.getReader();
    const { done, value } = (await this.#limited(this.#reader?.read())) ?? { done: true };
    this.#bytes += value?.length ?? 0;
    if (this.#bytes >= MIN_BYTES) [this.#waited, this.#bytes] = [0, 0];
    return done ? undefined : value;
  }

  /** Reads the body as text. @param {number} most maximum bytes */
  async text(most) {
    /** @type {Uint8Array<ArrayBuffer>[]} */
    const parts = [];
    let size = 0;
    for (let part = await this.next(); part; part = await this.next()) {
      size += part.length;
      const { place } = this.#client;
      if (size > most) throw hubError(place, 'server', `${place.endpoint} sends a list of more than ${most} bytes`);
      parts.push(/** @type {Uint8Array<ArrayBuffer>} */ (part));
    }
    return new Blob(parts).text();
  }

  close() {
    clearTimeout(this.#timer);
    this.#stop.abort();
    this.#client.ended(this);
  }

  /**
   * Waits for a promise, but not longer than MAX_SILENCE after the last MIN_BYTES.
   * @template T
   * @param {Promise<T> | undefined} pending
   * @returns {Promise<T | undefined>}
   */
  async #limited(pending) {
    const what = this.#bytes > 0 ? `only ${this.#bytes} bytes` : 'no byte';
    const silence = () => this.#stop.abort(new Error(`${what} arrived in ${MAX_SILENCE / 1000} seconds`));
    const begin = performance.now();
    this.#timer = setTimeout(silence, Math.max(MAX_SILENCE - this.#waited, 0));
    try {
      return await pending;
    } catch (cause) {
      this.close();
      this.#client.throwIfClosed();
      throw new Temporary('network', unreachable(this.#client.place, cause, this.#path));
    } finally {
      clearTimeout(this.#timer);
      this.#waited += performance.now() - begin;
    }
  }
}
