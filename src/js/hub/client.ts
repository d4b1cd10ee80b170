// Sends requests to the Hub and to the servers of its files. The token is sent only to the origin of the endpoint: in
// Node this client follows redirects and omits it elsewhere, in a page the browser does.

import type { HubWait } from './options.ts';
import { hubError, limited, type Place, refusal, unreachable } from './refusals.ts';
import type { HubError } from './types.ts';

const MAX_REDIRECTS = 10;
/** Milliseconds of waiting for MIN_BYTES after which a connection counts as broken. */
const MAX_SILENCE = 60_000;
const MIN_BYTES = 1024;
/** Attempts without any progress before an error is thrown. */
const MAX_ATTEMPTS = 5;
/** Seconds before the first repeated attempt, after a failure or after a rate limit. Later waits double each time. */
const [FIRST_WAIT, FIRST_LIMIT_WAIT] = [0.25, 5];
/** Maximum seconds to wait at the Hub's request. Its rate limit counts requests in windows of five minutes. */
const MAX_WAIT = 330;
const MAX_JSON = 64 * 2 ** 20;
const REDIRECTS = [301, 302, 303, 307, 308];

/** A failure after which the request can be repeated. */
export class Temporary extends Error {
  declare reason: HubWait['reason'];
  declare error: HubError;
  declare seconds: number | undefined;

  /** error: thrown if the request is not repeated; seconds: requested by the Hub, 0 to repeat immediately */
  constructor(reason: HubWait['reason'], error: HubError, seconds?: number) {
    super(error.message);
    this.reason = reason;
    this.error = error;
    this.seconds = seconds;
  }
}

export class Client {
  declare place: Place;
  declare signal: AbortSignal | undefined;
  declare onWait: ((wait: HubWait) => unknown) | undefined;
  declare follow: boolean;

  #running: Set<Exchange> = new Set();
  #closed = new AbortController();
  #token: string | undefined;
  #origin: string;

  /** options: follow: true if fetch follows redirects, which a page cannot see; false if this client follows them */
  constructor(
    place: Place,
    {
      token,
      signal,
      onWait,
      follow,
    }: { token?: string; signal?: AbortSignal; onWait?: (wait: HubWait) => unknown; follow: boolean },
  ) {
    this.place = place;
    this.signal = signal;
    this.onWait = onWait;
    this.follow = follow;
    this.#token = token;
    this.#origin = new URL(place.endpoint).origin;
    signal?.addEventListener('abort', this.close);
  }

  isOwn = (url: string) => new URL(url).origin === this.#origin;

  /** Sends a request, and follows redirects if fetch does not. path: path of the file, for errors. */
  async send(url: string, headers: Record<string, string> = {}, path?: string): Promise<Exchange> {
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

  #target(location: string, from: string, path?: string) {
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
   */
  async json(
    url: string,
    { attempts = MAX_ATTEMPTS }: { attempts?: number } = {},
  ): Promise<{ value: any; headers: Headers; url: string }> {
    const patience = new Patience(this, attempts);
    for (;;) {
      let exchange: Exchange | undefined;
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

  /** Throws unless the status of a response is 200 or 206. */
  check({ response, url }: Exchange, path?: string) {
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

  ended = (exchange: Exchange) => void this.#running.delete(exchange);

  throwIfClosed() {
    this.signal?.throwIfAborted();
    this.#closed.signal.throwIfAborted();
  }

  async wait(seconds: number) {
    this.throwIfClosed();
    const { signal } = this.#closed;
    let stop: () => void = () => {};
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

  close = () => {
    this.signal?.removeEventListener('abort', this.close);
    this.#closed.abort();
    for (const exchange of [...this.#running]) exchange.close();
  };
}

/** Seconds to wait after status 429, from RateLimit: "resolvers";r=0;t=37, or Retry-After: 37. */
function secondsOf(headers: Headers) {
  const text = /;\s*t=(\d+)/.exec(headers.get('ratelimit') ?? '')?.[1] ?? headers.get('retry-after');
  return text !== null && /^\d+$/.test(text.trim()) ? Number(text) : undefined;
}

function parse(text: string, place: Place) {
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
  #client: Client;
  #attempts: number;

  constructor(client: Client, attempts: number = MAX_ATTEMPTS) {
    this.#client = client;
    this.#attempts = attempts;
  }

  progress() {
    this.#failures = 0;
  }

  /** Waits until the request may be repeated; throws if it may not. */
  async again(error: unknown) {
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

/** A request and its response. Reading chunks fails if fewer than MIN_BYTES arrive in MAX_SILENCE. */
export class Exchange {
  #client: Client;
  #path: string | undefined;
  #stop = new AbortController();
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Milliseconds that were spent waiting for #bytes, the bytes since MIN_BYTES were complete. */
  #waited = 0;
  #bytes = 0;
  #reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  response: any;
  url = '';

  constructor(client: Client, path?: string) {
    this.#client = client;
    this.#path = path;
  }

  async send(url: string, headers: Record<string, string>) {
    // No browser cache: a cached part of a file may belong to another response, and gigabytes would displace everything
    // else.
    const options = { cache: 'no-store', credentials: 'omit', referrerPolicy: 'no-referrer' } as const;
    const redirect = this.#client.follow ? 'follow' : 'manual';
    this.response = await this.#limited(fetch(url, { ...options, redirect, headers, signal: this.#stop.signal }));
    this.url = this.response.url || url;
    this.#waited = 0;
  }

  async next(): Promise<Uint8Array | undefined> {
    this.#reader ??= this.response.body?.getReader();
    const { done, value } = (await this.#limited(this.#reader?.read())) ?? { done: true };
    this.#bytes += value?.length ?? 0;
    if (this.#bytes >= MIN_BYTES) [this.#waited, this.#bytes] = [0, 0];
    return done ? undefined : value;
  }

  async text(most: number) {
    const parts: Uint8Array<ArrayBuffer>[] = [];
    let size = 0;
    for (let part = await this.next(); part; part = await this.next()) {
      size += part.length;
      const { place } = this.#client;
      if (size > most) throw hubError(place, 'server', `${place.endpoint} sends a list of more than ${most} bytes`);
      parts.push(part as Uint8Array<ArrayBuffer>);
    }
    return new Blob(parts).text();
  }

  close() {
    clearTimeout(this.#timer);
    this.#stop.abort();
    this.#client.ended(this);
  }

  /** Waits for a promise, but not longer than MAX_SILENCE after the last MIN_BYTES. */
  async #limited<T>(pending: Promise<T> | undefined): Promise<T | undefined> {
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
