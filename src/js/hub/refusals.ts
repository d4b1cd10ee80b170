// Makes errors about the Hub, whose messages say what to do next.

import { HeadlightError } from '../check/errors.ts';
import { cut, quoteNames } from '../check/quote.ts';

import type { HubError, HubReason } from './types.ts';

/** A model on the Hub, as errors describe it. token: no error contains it. */
export type Place = { caller: string; endpoint: string; id: string; revision: string; token?: string };

const TOKENS = 'https://huggingface.co/settings/tokens';
/** Characters of a server's text that are looked at. */
const MAX_SENT = 4096;
const HOW = `hub: { token }, or HF_TOKEN in Node; make one at ${TOKENS}`;

/** Removes the token, which a server may have repeated. */
const withoutToken = (text: string, token?: string) =>
  token === undefined ? text : text.replaceAll(token, '…').replaceAll(encodeURIComponent(token), '…');

/**
 * Shortens a foreign text, without tokens, names and passwords of users, and queries of addresses, which contain
 * signatures. most: characters.
 */
function conceal(text: string, most: number, token?: string) {
  const safe = withoutToken(text.slice(0, MAX_SENT), token)
    .replace(/\bhf_[a-z\d]{16,}|\bBearer\s+\S+/gi, '…')
    .replace(/(\w:\/\/)[^\s/?#]*@/g, '$1…@')
    .replace(/(\w:\/\/[^\s?]*\?)\S*/g, '$1…');
  return cut(safe, most);
}

export function hubError(
  { caller, token }: Place,
  reason: HubReason,
  text: string,
  { page, expected, cause }: { expected?: readonly string[]; cause?: unknown; page?: string } = {},
): HubError {
  const error = new HeadlightError('LOAD', `${caller}: ${withoutToken(text, token)}`, {
    parameter: 'files',
    expected: expected?.map((name) => withoutToken(name, token)),
    got: reason,
    cause,
  });
  return Object.assign(error, { reason, ...(page && { page }) });
}

/**
 * path: of the requested file; isOwn: false for a file server, whose status 404 does not mean that the model is missing
 */
export function refusal(place: Place, response: Response, path?: string, isOwn = true): HubError {
  const { status, headers } = response;
  const code = headers.get('x-error-code') ?? '';
  const { endpoint, id, token } = place;
  const hasToken = token !== undefined;
  const page = `${endpoint}/${id}`;
  const what = path === undefined ? id : `${id}/${path}`;
  const said = headers.get('x-error-message');
  const reason = said ? `: ${conceal(said, 200, token)}` : '';
  const other = `${what} cannot be read: the server responds with status ${status}${reason}`;
  if (!isOwn) return hubError(place, 'server', other);
  if (code === 'GatedRepo' || (status === 403 && hasToken)) return gated(place, page);
  if (code === 'RevisionNotFound') return noRevision(place);
  if (code === 'EntryNotFound') return noEntry(place, path ?? '');
  if (status === 401 && hasToken && code !== 'RepoNotFound')
    return hubError(place, 'token', `${endpoint} does not accept the token: make a new one at ${TOKENS}`, {
      page: TOKENS,
    });
  if (code === 'RepoNotFound' || status === 401 || (status === 404 && path === undefined)) return noModel(place);
  if (status === 404) return noEntry(place, path ?? '');
  return hubError(place, 'server', other);
}

function gated(place: Place, page: string) {
  const { id, token } = place;
  const next = token
    ? `with the account of the token, then try again. The token must have the right to read gated models (${TOKENS})`
    : `then pass a token (${HOW})`;
  return hubError(place, 'gated', `${id} requires consent: accept its terms on ${page}, ${next}`, { page });
}

function noModel(place: Place) {
  const { endpoint, id, token } = place;
  const next = token
    ? 'Check the name, and that the token may read it'
    : `Check the name. A private model requires a token (${HOW})`;
  return hubError(place, 'notFound', `there is no model ${id} on ${endpoint}, or it is private. ${next}`);
}

export function noRevision(place: Place, known: readonly string[] = []) {
  const { id, revision } = place;
  const instead =
    known.length > 0 ? `: there are ${quoteNames(known)}` : ': check the name of the branch, tag or commit';
  return hubError(place, 'revision', `${id} has no revision ${cut(revision, 100)}${instead}`, { expected: known });
}

export function noEntry(place: Place, path: string, known: readonly string[] = []) {
  const { id, revision } = place;
  const instead = known.length > 0 ? `: there are ${quoteNames(known)}` : '';
  return hubError(place, 'entry', `${id} has no file ${cut(path, 200)} at ${cut(revision, 100)}${instead}`, {
    expected: known,
  });
}

/** seconds: seconds that the Hub asks to wait; 0 if it does not ask */
export function limited(place: Place, seconds: number) {
  const { endpoint, token } = place;
  const wait = seconds > 0 ? `Try again in ${seconds} seconds` : 'Try again in five minutes';
  const more = token ? '' : `, or pass a token, which has a higher limit (${HOW})`;
  return hubError(place, 'rateLimit', `${endpoint} refuses requests because there were too many. ${wait}${more}`);
}

export function unreachable(place: Place, cause: unknown, path?: string) {
  const { endpoint, id, token } = place;
  const what = path === undefined ? id : `${id}/${path}`;
  const reason = conceal(describe(cause), 300, token);
  const next = 'Check the connection; hub: { endpoint } selects a mirror';
  const text = `${what} cannot be read from ${endpoint}: ${reason}. ${next}`;
  // A string may contain text of the server, so it is only in the message, without its secrets.
  return hubError(place, 'network', text, { cause: cause instanceof Error ? cause : undefined });
}

/** Adds the message of the cause, because in Node the message of a failed request is only "fetch failed". */
function describe(cause: any) {
  const inner = cause?.cause instanceof Error && cause.cause.message ? `: ${cause.cause.message}` : '';
  return `${cause?.message ?? cause}${inner}`;
}

export function notCached(place: Place, where: string | undefined, path?: string) {
  const { id, revision } = place;
  const what = path === undefined ? `${id} at ${cut(revision, 100)}` : `${id}/${path}`;
  const cache = where === undefined ? 'there is no cache' : `it is not in the cache ${where}`;
  const next = 'Open it once with a connection, without the option offline and without HF_HUB_OFFLINE';
  return hubError(place, 'offline', `${what} cannot be opened offline: ${cache}. ${next}`);
}

export function changed(place: Place, path: string, how: string) {
  const text = `${place.id}/${path} is not the same file as before: ${conceal(how, 300, place.token)}`;
  return hubError(place, 'changed', `${text}. Open the model again`);
}
