// Reads a range of a file over HTTP, at once or as a stream. Checks that the response matches the request, because a
// proxy may send other bytes. Reads nothing beyond the range, because a server may never stop sending.

import { unreadable } from '../check/errors.js';
import { discard, failure, RangeBody, WholeBody } from './responseBody.js';

/**
 * A remote file, and what earlier responses have said about it.
 * @typedef {object} RemoteSource
 * @property {string} caller
 * @property {string} name of the file in errors
 * @property {AbortSignal} [signal]
 * @property {(headers: Record<string, string>) => Promise<Response>} request sends one request for the file
 * @property {number} [total] its length, from an earlier response
 * @property {string | null} [tag] its ETag, from an earlier response
 */
/** @typedef {{ bytes: Uint8Array, total: number, tag: string | null, whole?: undefined }} FetchedRange */
/** @typedef {(FetchedRange | { whole: WholeBody }) & { type: string }} Fetched with the Content-Type of the response */

/**
 * Returns the bytes from begin to end, or to the end of the file if that is nearer. Returns the whole file if the
 * server does not support ranges. A failed request leaves no state, so that the call can be repeated.
 * @param {RemoteSource} source
 * @param {number} begin
 * @param {number} end exclusive; more than begin
 * @param {Uint8Array} [target] end − begin bytes that may be used for the result
 * @returns {Promise<Fetched>}
 */
export async function fetchRange(source, begin, end, target) {
  const opened = await openRange(source, begin, end);
  if ('whole' in opened) return opened;
  const { body, length, total, tag, type } = opened;
  const bytes = target ? target.subarray(0, length) : new Uint8Array(length);
  await body?.read(bytes);
  await body?.end();
  return { bytes, total, tag, type };
}

/**
 * @typedef {{ body: RangeBody | null, length: number, total: number, tag: string | null, type: string }} OpenedRange
 */

/**
 * Requests bytes and returns the body of the response, which is not read yet, or null if the file is empty.
 * @param {RemoteSource} source
 * @param {number} begin
 * @param {number} end exclusive; more than begin
 * @returns {Promise<OpenedRange | { whole: WholeBody, type: string }>}
 */
export async function openRange(source, begin, end) {
  const response = await send(source, { Range: `bytes=${begin}-${end - 1}` });
  if (response.status === 200) return wholeOf(source, response);
  try {
    const contentRange = response.headers.get('content-range');
    if (response.status === 416 && begin === 0 && contentRange?.trim() === 'bytes */0')
      return { body: null, length: 0, total: 0, tag: null, type: '' };
    if (response.status !== 206) throw refusal(source, response.status);
    // A server of another origin may not expose this header to the page. Then the range cannot be checked, so the whole
    // file is requested.
    if (contentRange === null) return await fetchWhole(source);
    return checkRange(source, response, contentRange, begin, end);
  } finally {
    // Cancels the body, except if a RangeBody or WholeBody has locked it.
    await discard(response);
  }
}

/**
 * @param {RemoteSource} source
 * @param {Response} response
 * @param {string} contentRange
 * @param {number} begin
 * @param {number} end
 * @returns {OpenedRange}
 */
function checkRange(source, response, contentRange, begin, end) {
  const { from, to, total } = readContentRange(source, contentRange);
  const until = Math.min(end, total);
  if (from !== begin || to !== until)
    throw unreadable(
      source.caller,
      source.name,
      `the server sends ${contentRange}, expected bytes ${begin}-${until - 1}`,
    );
  const tag = response.headers.get('etag');
  checkSameFile(source, total, tag);
  const length = to - from;
  return { body: new RangeBody(source, response, length), length, total, tag, type: typeOf(response) };
}

/** @param {RemoteSource} source @returns {Promise<{ whole: WholeBody, type: string }>} */
async function fetchWhole(source) {
  const response = await send(source, {});
  if (response.status === 200) return wholeOf(source, response);
  await discard(response);
  if (response.status !== 206) throw refusal(source, response.status);
  throw unreadable(source.caller, source.name, 'the server sends a range and no Content-Range');
}

/** @param {Response} response */
const typeOf = (response) => response.headers.get('content-type') ?? '';

/** @param {RemoteSource} source @param {Response} response */
const wholeOf = (source, response) => ({ whole: new WholeBody(source, response), type: typeOf(response) });

/** @param {RemoteSource} source @param {Record<string, string>} headers */
async function send(source, headers) {
  try {
    return await source.request(headers);
  } catch (cause) {
    throw failure(source, cause);
  }
}

/** @param {RemoteSource} source @param {number} status */
const refusal = (source, status) =>
  unreadable(source.caller, source.name, `the server responds with status ${status}`, {
    expected: '200 or 206',
    got: status,
  });

/** @param {RemoteSource} source @param {string} header @returns {{ from: number, to: number, total: number }} */
function readContentRange(source, header) {
  const [, ...digits] = /^bytes (\d+)-(\d+)\/(\d+)$/i.exec(header.trim()) ?? [];
  const [from, last, total] = digits.map(Number);
  if (digits.length < 3 || !Number.isSafeInteger(total) || from > last || last >= total)
    throw unreadable(source.caller, source.name, `the server sends ${header}, expected bytes FROM-TO/TOTAL`);
  return { from, to: last + 1, total };
}

/** @param {RemoteSource} source @param {number} total @param {string | null} tag */
function checkSameFile(source, total, tag) {
  const changed = (/** @type {unknown} */ now, /** @type {unknown} */ before) =>
    unreadable(source.caller, source.name, `the file changed while it was read: ${now} instead of ${before}`);
  if (source.total !== undefined && total !== source.total) throw changed(`${total} bytes`, source.total);
  // Weak tags, W/"…", do not identify the exact bytes.
  if (source.tag?.startsWith('"') && tag?.startsWith('"') && tag !== source.tag)
    throw changed(`ETag ${tag}`, source.tag);
}
