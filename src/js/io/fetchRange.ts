// Reads a range of a file over HTTP, at once or as a stream. Checks that the response matches, because a proxy may send
// other bytes, and reads nothing beyond, because a server may never stop sending.

import { unreadable } from '../check/errors.ts';
import { discard, failure, RangeBody, WholeBody } from './responseBody.ts';

/** A remote file, and what earlier responses have said about it. */
export type RemoteSource = {
  caller: string;
  name: string;
  signal?: AbortSignal | undefined;
  /** sends one request for the file */
  request: (headers: Record<string, string>) => Promise<Response>;
  /** its length, from an earlier response */
  total?: number | undefined;
  /** its ETag, from an earlier response */
  tag?: string | null | undefined;
};
export type FetchedRange = { bytes: Uint8Array; total: number; tag: string | null; whole?: undefined };
/** with the Content-Type of the response */
export type Fetched = (FetchedRange | { whole: WholeBody }) & { type: string };

/**
 * Returns the bytes from begin to end (exclusive, > begin), or to the end of the file, or the whole file if the server
 * does not support ranges. A failed request leaves no state, so the call can be repeated. target: may be used for the
 * result.
 */
export async function fetchRange(
  source: RemoteSource,
  begin: number,
  end: number,
  target?: Uint8Array,
): Promise<Fetched> {
  const opened = await openRange(source, begin, end);
  if ('whole' in opened) return opened;
  const { body, length, total, tag, type } = opened;
  const bytes = target ? target.subarray(0, length) : new Uint8Array(length);
  await body?.read(bytes);
  await body?.end();
  return { bytes, total, tag, type };
}

export type OpenedRange = { body: RangeBody | null; length: number; total: number; tag: string | null; type: string };

/** Returns the body, not read yet, or null if the file is empty. end: exclusive, more than begin. */
export async function openRange(
  source: RemoteSource,
  begin: number,
  end: number,
): Promise<OpenedRange | { whole: WholeBody; type: string }> {
  const response = await send(source, { Range: `bytes=${begin}-${end - 1}` });
  if (response.status === 200) return wholeOf(source, response);
  try {
    const contentRange = response.headers.get('content-range');
    if (response.status === 416 && begin === 0 && contentRange?.trim() === 'bytes */0')
      return { body: null, length: 0, total: 0, tag: null, type: '' };
    if (response.status !== 206) throw refusal(source, response.status);
    // A server of another origin may not expose this header. The range cannot be checked, so the whole file is
    // requested.
    if (contentRange === null) return await fetchWhole(source);
    return checkRange(source, response, contentRange, begin, end);
  } finally {
    // Cancels the body, except if a RangeBody or WholeBody has locked it.
    await discard(response);
  }
}

function checkRange(
  source: RemoteSource,
  response: Response,
  contentRange: string,
  begin: number,
  end: number,
): OpenedRange {
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

async function fetchWhole(source: RemoteSource): Promise<{ whole: WholeBody; type: string }> {
  const response = await send(source, {});
  if (response.status === 200) return wholeOf(source, response);
  await discard(response);
  if (response.status !== 206) throw refusal(source, response.status);
  throw unreadable(source.caller, source.name, 'the server sends a range and no Content-Range');
}

const typeOf = (response: Response) => response.headers.get('content-type') ?? '';

const wholeOf = (source: RemoteSource, response: Response) => ({
  whole: new WholeBody(source, response),
  type: typeOf(response),
});

async function send(source: RemoteSource, headers: Record<string, string>) {
  try {
    return await source.request(headers);
  } catch (cause) {
    throw failure(source, cause);
  }
}

const refusal = (source: RemoteSource, status: number) =>
  unreadable(source.caller, source.name, `the server responds with status ${status}`, {
    expected: '200 or 206',
    got: status,
  });

function readContentRange(source: RemoteSource, header: string): { from: number; to: number; total: number } {
  const [, ...digits] = /^bytes (\d+)-(\d+)\/(\d+)$/i.exec(header.trim()) ?? [];
  const [from, last, total] = digits.map(Number);
  if (digits.length < 3 || !Number.isSafeInteger(total) || from > last || last >= total)
    throw unreadable(source.caller, source.name, `the server sends ${header}, expected bytes FROM-TO/TOTAL`);
  return { from, to: last + 1, total };
}

function checkSameFile(source: RemoteSource, total: number, tag: string | null) {
  const changed = (now: unknown, before: unknown) =>
    unreadable(source.caller, source.name, `the file changed while it was read: ${now} instead of ${before}`);
  if (source.total !== undefined && total !== source.total) throw changed(`${total} bytes`, source.total);
  // Weak tags, W/"…", do not identify the exact bytes.
  if (source.tag?.startsWith('"') && tag?.startsWith('"') && tag !== source.tag)
    throw changed(`ETag ${tag}`, source.tag);
}
