// A range of a file over HTTP. The response is compared with the request before it is used, and nothing is read beyond
// the range: a proxy may send other bytes than those requested, and a server may never stop sending.

import { unreadable } from '../check/errors.js';
import { discard, failure, fill, WholeBody } from './responseBody.js';

/**
 * Where a file comes from, and what is known of it.
 * @typedef {object} RemoteSource
 * @property {string} caller
 * @property {string} name of the file in errors
 * @property {AbortSignal} [signal]
 * @property {(headers: Record<string, string>) => Promise<Response>} request sends one request for the file
 * @property {number} [total] its bytes, as an earlier response said
 * @property {string | null} [tag] its ETag, as an earlier response said
 */
/** @typedef {{ bytes: Uint8Array, total: number, tag: string | null, whole?: undefined }} FetchedRange */
/** @typedef {(FetchedRange | { whole: WholeBody }) & { type: string }} Fetched and its Content-Type */

/**
 * The bytes from begin to end, or to the end of the file if that is nearer; or the whole file, if the server knows no
 * ranges. It keeps nothing of a request that fails, so the same call can be repeated.
 * @param {RemoteSource} source
 * @param {number} begin
 * @param {number} end after the last byte; more than begin
 * @param {Uint8Array} [room] of end − begin bytes, where the result may be put
 * @returns {Promise<Fetched>}
 */
export async function fetchRange(source, begin, end, room) {
  const response = await send(source, { Range: `bytes=${begin}-${end - 1}` });
  if (response.status === 200) return wholeOf(source, response);
  try {
    const said = response.headers.get('content-range');
    if (response.status === 416 && begin === 0 && said?.trim() === 'bytes */0')
      return { bytes: new Uint8Array(0), total: 0, tag: null, type: '' };
    if (response.status !== 206) throw refusal(source, response.status);
    // A page does not see this header of another origin that does not expose it; then no range can be checked.
    if (said === null) return await fetchWhole(source);
    return { ...(await readRange(source, response, said, begin, end, room)), type: typeOf(response) };
  } finally {
    await discard(response);
  }
}

/**
 * @param {RemoteSource} source
 * @param {Response} response
 * @param {string} said its Content-Range
 * @param {number} begin
 * @param {number} end
 * @param {Uint8Array} [room]
 * @returns {Promise<FetchedRange>}
 */
async function readRange(source, response, said, begin, end, room) {
  const { from, to, total } = readContentRange(source, said);
  const until = Math.min(end, total);
  if (from !== begin || to !== until)
    throw unreadable(source.caller, source.name, `the server sends ${said}, expected bytes ${begin}-${until - 1}`);
  const tag = response.headers.get('etag');
  checkSameFile(source, total, tag);
  const bytes = room ? room.subarray(0, to - from) : new Uint8Array(to - from);
  await fill(source, response, bytes);
  return { bytes, total, tag };
}

/** @param {RemoteSource} source @returns {Promise<Fetched>} */
async function fetchWhole(source) {
  const response = await send(source, {});
  if (response.status === 200) return wholeOf(source, response);
  await discard(response);
  if (response.status !== 206) throw refusal(source, response.status);
  throw unreadable(source.caller, source.name, 'the server sends a range and no Content-Range');
}

/** @param {Response} response */
const typeOf = (response) => response.headers.get('content-type') ?? '';

/** @param {RemoteSource} source @param {Response} response @returns {Fetched} */
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

/** @param {RemoteSource} source @param {string} said @returns {{ from: number, to: number, total: number }} */
function readContentRange(source, said) {
  const [, ...digits] = /^bytes (\d+)-(\d+)\/(\d+)$/i.exec(said.trim()) ?? [];
  const [from, last, total] = digits.map(Number);
  if (digits.length < 3 || !Number.isSafeInteger(total) || from > last || last >= total)
    throw unreadable(source.caller, source.name, `the server sends ${said}, expected bytes FROM-TO/TOTAL`);
  return { from, to: last + 1, total };
}

/** @param {RemoteSource} source @param {number} total @param {string | null} tag */
function checkSameFile(source, total, tag) {
  const changed = (/** @type {unknown} */ now, /** @type {unknown} */ before) =>
    unreadable(source.caller, source.name, `the file changed while it was read: ${now}, before ${before}`);
  if (source.total !== undefined && total !== source.total) throw changed(`${total} bytes`, source.total);
  // A weak tag, W/"…", does not tell one sequence of bytes from another.
  if (source.tag?.startsWith('"') && tag?.startsWith('"') && tag !== source.tag)
    throw changed(`ETag ${tag}`, source.tag);
}
