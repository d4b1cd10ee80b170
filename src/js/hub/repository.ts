// Lists the files of a model on the Hub at one commit, determined once, so that the files are never of two revisions.

import type { Client } from './client.ts';
import { DEFAULT_REVISION, isCommit, isSafePath } from './names.ts';
import { hubError, noRevision, notCached, type Place } from './refusals.ts';
import type { Cache, Entry } from './types.ts';

export type Repository = {
  /** current id of the model; differs from the requested id if the model was renamed */
  id: string;
  revision: string;
  entries: Entry[];
};

const MAX_PAGES = 1000;
const MAX_ENTRIES = 200_000;
const HASH = /^(?:[\da-f]{40}|[\da-f]{64})$/;

export const encodePath = (path: string) => path.split('/').map(encodeURIComponent).join('/');

export async function openRepository(
  client: Client,
  requested: string,
  revision: string = DEFAULT_REVISION,
  cache?: Cache,
  offline = false,
): Promise<Repository> {
  const { place } = client;
  if (offline) {
    const found = await fromCache(requested, revision, cache);
    if (found) return found;
    throw notCached(place, cache?.name);
  }
  const known = isCommit(revision) ? await cache?.readList(requested, revision) : undefined;
  if (known) return { id: requested, revision, entries: known };
  let pinned: { id: string; revision: string; names: string[] };
  try {
    pinned = await pin(client, requested, revision, cache !== undefined);
  } catch (error: any) {
    // Without a connection, the model is opened from the cache, at the commit that was cached.
    const found = error?.reason === 'network' ? await fromCache(requested, revision, cache) : undefined;
    if (found) return found;
    throw error;
  }
  const { id, revision: sha, names } = pinned;
  if (!isCommit(revision)) await cache?.writeRevision(requested, revision, sha);
  const listed = await cache?.readList(requested, sha);
  if (listed) return { id, revision: sha, entries: listed };
  const entries = await list(client, id, sha, names);
  await cache?.writeList(requested, sha, entries);
  return { id, revision: sha, entries };
}

async function fromCache(id: string, revision: string, cache?: Cache): Promise<Repository | undefined> {
  const sha = isCommit(revision) ? revision : await cache?.readRevision(id, revision);
  if (sha === undefined) return undefined;
  const entries = (await cache?.readList(id, sha)) ?? (await cache?.present(id, sha));
  return entries && entries.length > 0 ? { id, revision: sha, entries } : undefined;
}

async function pin(client: Client, requested: string, revision: string, hasCache: boolean) {
  const { place } = client;
  const url = `${place.endpoint}/api/models/${encodePath(requested)}/revision/${encodeURIComponent(revision)}`;
  const answer = await client.json(url, { attempts: hasCache ? 2 : 4 }).catch(async (error) => {
    throw error.reason === 'revision' ? noRevision(place, await listRevisions(client, requested)) : error;
  });
  const { value, headers } = answer;
  const sha = value?.sha ?? headers.get('x-repo-commit');
  if (typeof sha !== 'string' || !isCommit(sha)) throw noHub(place, 'its answer has no commit');
  const siblings = Array.isArray(value.siblings) ? value.siblings : [];
  const names = siblings.map((sibling: any) => sibling?.rfilename).filter(isSafePath);
  return { id: idIn(place.endpoint, answer.url) ?? requested, revision: sha, names };
}

const noHub = (place: Place, reason: string) =>
  hubError(place, 'server', `${place.endpoint} does not respond as the Hub does: ${reason}`);

/** Returns the id in the address of a response. It differs from the requested id if the model was renamed. */
function idIn(endpoint: string, url: string) {
  const start = `${endpoint}/api/models/`;
  const path = url.startsWith(start) ? /^([^?#]+?)\/revision\//.exec(url.slice(start.length))?.[1] : undefined;
  return path && /^(?:[\w.-]+\/)?[\w.-]+$/.test(path) ? path : undefined;
}

/** Returns the branches and tags for an error message, or none if they cannot be read. */
async function listRevisions(client: Client, id: string) {
  try {
    const { value } = await client.json(`${client.place.endpoint}/api/models/${encodePath(id)}/refs`, { attempts: 1 });
    const names = [...(value.branches ?? []), ...(value.tags ?? [])].map(({ name }) => name);
    return names.filter((name) => typeof name === 'string');
  } catch {
    return [];
  }
}

/** Lists all files. For a mirror that does not list sizes, the entries have only names. */
async function list(client: Client, id: string, sha: string, names: string[]): Promise<Entry[]> {
  const first = `${client.place.endpoint}/api/models/${encodePath(id)}/tree/${sha}?recursive=true`;
  const entries: Entry[] = [];
  let pages = 0;
  for (let url = first as string | undefined; url; pages++) {
    let page: Awaited<ReturnType<Client['json']>>;
    try {
      page = await client.json(url);
    } catch (error: any) {
      const isMissing = ['notFound', 'entry', 'revision'].includes(error?.reason);
      if (pages === 0 && isMissing && names.length > 0) return names.map((path) => ({ path, isLarge: true }));
      throw error;
    }
    if (!Array.isArray(page.value)) throw noHub(client.place, 'its list of files is not a list');
    for (const value of page.value) {
      const entry = readEntry(value);
      if (entry) entries.push(entry);
    }
    if (pages === MAX_PAGES || entries.length > MAX_ENTRIES)
      throw noHub(client.place, `it lists more than ${MAX_ENTRIES} files`);
    url = nextPage(page.headers.get('link'), url, first);
  }
  return entries;
}

function readEntry(value: any): Entry | undefined {
  const { type, path, size, oid, lfs } = value ?? {};
  if (type !== 'file' || !isSafePath(path)) return undefined;
  const [bytes, hash] = lfs ? [lfs.size ?? size, lfs.oid ?? lfs.sha256] : [size, oid];
  return {
    path,
    ...(Number.isSafeInteger(bytes) && bytes >= 0 && { size: bytes }),
    ...(HASH.test(hash) && { hash }),
    isLarge: Boolean(lfs),
  };
}

/** A mirror may return an address of the Hub itself, so only the query of the address is used. */
function nextPage(link: string | null, url: string, first: string) {
  const next = /<([^>]*)>\s*;\s*rel="?next"?/.exec(link ?? '')?.[1];
  if (next === undefined) return undefined;
  const found = new URL(next, url);
  return `${first.split('?')[0]}${found.search}`;
}
