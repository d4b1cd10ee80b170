// Makes errors about the Hub, whose messages say what to do next.

import { HeadlightError } from '../check/errors.js';
import { cut, quoteNames } from '../check/quote.js';

/** @import { HubError, HubReason } from './types.js' */

/**
 * A model on the Hub, as errors describe it.
 * @typedef {{ caller: string, endpoint: string, id: string, revision: string, hasToken: boolean }} Place
 */

const TOKENS = 'https://huggingface.co/settings/tokens';
const HOW = `hub: { token }, or HF_TOKEN in Node; make one at ${TOKENS}`;

/**
 * @param {string} caller
 * @param {HubReason} reason
 * @param {string} text
 * @param {{ got?: unknown, expected?: unknown, cause?: unknown, page?: string }} [details]
 * @returns {HubError}
 */
export function hubError(caller, reason, text, { page, ...details } = {}) {
  const error = new HeadlightError('LOAD', `${caller}: ${text}`, { parameter: 'files', got: reason, ...details });
  return Object.assign(error, { reason, ...(page && { page }) });
}

/**
 * Makes the error for a response that is neither a success nor temporary.
 * @param {Place} place
 * @param {Response} response
 * @param {string} [path] of the requested file
 * @param {boolean} [isOwn] false for a file server, whose status 404 does not mean that the model is missing
 * @returns {HubError}
 */
export function refusal(place, response, path, isOwn = true) {
  const { status, headers } = response;
  const code = headers.get('x-error-code') ?? '';
  const { caller, endpoint, id, hasToken } = place;
  const page = `${endpoint}/${id}`;
  const what = path === undefined ? id : `${id}/${path}`;
  const said = headers.get('x-error-message');
  const reason = said ? `: ${cut(said, 200)}` : '';
  const other = `${what} cannot be read: the server responds with status ${status}${reason}`;
  if (!isOwn) return hubError(caller, 'server', other);
  if (code === 'GatedRepo' || (status === 403 && hasToken)) return gated(place, page);
  if (code === 'RevisionNotFound') return noRevision(place);
  if (code === 'EntryNotFound') return noEntry(place, path ?? '');
  if (status === 401 && hasToken && code !== 'RepoNotFound')
    return hubError(caller, 'token', `${endpoint} does not accept the token: make a new one at ${TOKENS}`, {
      page: TOKENS,
    });
  if (code === 'RepoNotFound' || status === 401 || (status === 404 && path === undefined)) return noModel(place);
  if (status === 404) return noEntry(place, path ?? '');
  return hubError(caller, 'server', other);
}

/** @param {Place} place @param {string} page */
function gated({ caller, id, hasToken }, page) {
  const next = hasToken
    ? `with the account of the token, then try again. The token must have the right to read gated models (${TOKENS})`
    : `then pass a token (${HOW})`;
  return hubError(caller, 'gated', `${id} requires consent: accept its terms on ${page}, ${next}`, { page });
}

/** @param {Place} place */
function noModel({ caller, endpoint, id, hasToken }) {
  const next = hasToken
    ? 'Check the name, and that the token may read it'
    : `Check the name. A private model requires a token (${HOW})`;
  return hubError(caller, 'notFound', `there is no model ${id} on ${endpoint}, or it is private. ${next}`);
}

/** @param {Place} place @param {readonly string[]} [known] branches and tags */
export function noRevision({ caller, id, revision }, known = []) {
  const instead =
    known.length > 0 ? `: there are ${quoteNames(known)}` : ': check the name of the branch, tag or commit';
  return hubError(caller, 'revision', `${id} has no revision ${cut(revision, 100)}${instead}`, { expected: known });
}

/** @param {Place} place @param {string} path @param {readonly string[]} [known] files */
export function noEntry({ caller, id, revision }, path, known = []) {
  const instead = known.length > 0 ? `: there are ${quoteNames(known)}` : '';
  return hubError(caller, 'entry', `${id} has no file ${cut(path, 200)} at ${cut(revision, 100)}${instead}`, {
    expected: known,
  });
}

/** @param {Place} place @param {number} seconds seconds that the Hub asks to wait; 0 if it does not ask */
export function limited({ caller, endpoint, hasToken }, seconds) {
  const wait = seconds > 0 ? `Try again in ${seconds} seconds` : 'Try again in five minutes';
  const more = hasToken ? '' : `, or pass a token, which has a higher limit (${HOW})`;
  return hubError(caller, 'rateLimit', `${endpoint} refuses requests because there were too many. ${wait}${more}`);
}

/** @param {Place} place @param {unknown} cause @param {string} [path] */
export function unreachable({ caller, endpoint, id }, cause, path) {
  const what = path === undefined ? id : `${id}/${path}`;
  const reason = describe(cause);
  const next = 'Check the connection; hub: { endpoint } selects a mirror';
  return hubError(caller, 'network', `${what} cannot be read from ${endpoint}: ${reason}. ${next}`, { cause });
}

/**
 * Describes the cause of a failed request. In Node the message is only "fetch failed", so the message of its cause is
 * added.
 * @param {any} cause
 */
function describe(cause) {
  const inner = cause?.cause instanceof Error && cause.cause.message ? `: ${cause.cause.message}` : '';
  return cut(`${cause?.message ?? cause}${inner}`, 300);
}

/** @param {Place} place @param {string | undefined} where name of the cache @param {string} [path] */
export function notCached({ caller, id, revision }, where, path) {
  const what = path === undefined ? `${id} at ${cut(revision, 100)}` : `${id}/${path}`;
  const cache = where === undefined ? 'there is no cache' : `it is not in the cache ${where}`;
  const next = 'Open it once with a connection, without the option offline and without HF_HUB_OFFLINE';
  return hubError(caller, 'offline', `${what} cannot be opened offline: ${cache}. ${next}`);
}

/** @param {Place} place @param {string} path @param {string} how */
export function changed({ caller, id }, path, how) {
  return hubError(caller, 'changed', `${id}/${path} is not the same file as before: ${how}. Open the model again`);
}
