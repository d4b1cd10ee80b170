// The cache in Node has the layout of Hugging Face's tools, which can open its files, and vice versa:
// models--owner--name/refs/main has a commit, and snapshots/COMMIT/PATH are links into blobs/HASH. Parts and lists of
// files are in the folder .headlight, which these tools ignore.

import { createHash } from 'node:crypto';
import { lstat, readdir, readFile, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join, resolve, sep } from 'node:path';
import { memoryStore } from './memoryStore.ts';
import { isSafePath } from './names.ts';
import { segmentFiles, sizeOf, writeWhole } from './nodeFiles.ts';
import { NodeStore } from './nodeStore.ts';
import type { Variables } from './options.ts';
import { SegmentStore } from './segments.ts';
import type { CachedModel, Entry, Store } from './types.ts';

const MODELS = 'models--';
const OWN = '.headlight';

export function cacheFolder(
  cache: true | string,
  { HF_HUB_CACHE, HUGGINGFACE_HUB_CACHE, HF_HOME, XDG_CACHE_HOME }: Variables,
) {
  const home = HF_HOME || join(XDG_CACHE_HOME || join(homedir(), '.cache'), 'huggingface');
  const folder = typeof cache === 'string' ? cache : HF_HUB_CACHE || HUGGINGFACE_HUB_CACHE || join(home, 'hub');
  return resolve(folder.replace(/^~(?=$|[/\\])/, homedir()));
}

export const openNodeCache = (cache: true | string, variables: Variables): NodeCache =>
  new NodeCache(cacheFolder(cache, variables));

/** Returns a file name for a path. Different paths have different names, also in file systems that ignore case. */
const digestOf = (path: string) => createHash('sha256').update(path).digest('hex');

class NodeCache {
  declare name: string;

  note: string | undefined;
  /** References and lists to write when the first file is stored, by model and commit. */
  #waiting: Map<string, [string, string][]> = new Map();

  constructor(folder: string) {
    this.name = folder;
  }

  #path = (id: string, ...parts: string[]) => join(this.name, `${MODELS}${id.replaceAll('/', '--')}`, ...parts);

  async readRevision(id: string, revision: string) {
    const text = await readFile(this.#path(id, 'refs', ...revision.split('/')), 'utf8').catch(() => '');
    return /^[\da-f]{40}$/.test(text.trim()) ? text.trim() : undefined;
  }

  async writeRevision(id: string, revision: string, sha: string) {
    if ((await this.readRevision(id, revision)) === sha) return;
    await this.#later(id, sha, this.#path(id, 'refs', ...revision.split('/')), sha);
  }

  async readList(id: string, sha: string) {
    try {
      const entries = JSON.parse(await readFile(this.#path(id, OWN, `${sha}.json`), 'utf8'));
      if (Array.isArray(entries) && entries.every(({ path }) => isSafePath(path))) return entries as Entry[];
    } catch {
      // The list is missing or damaged, so it is requested again.
    }
    return undefined;
  }

  writeList(id: string, sha: string, entries: Entry[]) {
    return this.#later(id, sha, this.#path(id, OWN, `${sha}.json`), JSON.stringify(entries));
  }

  async present(id: string, sha: string): Promise<Entry[]> {
    const root = this.#path(id, 'snapshots', sha);
    const names = await readdir(root, { recursive: true }).catch(() => []);
    const entries: Entry[] = [];
    for (const name of names) {
      const size = await sizeOf(join(root, name));
      if (size !== null) entries.push({ path: name.split(sep).join('/'), size, isLarge: false });
    }
    return entries;
  }

  async open(id: string, sha: string, entry: Entry & { size: number }, keepsAll: () => boolean): Promise<Store> {
    const snapshot = this.#path(id, 'snapshots', sha, ...entry.path.split('/'));
    const hash = entry.hash;
    const blob = hash ? this.#path(id, 'blobs', hash) : undefined;
    const own = this.#path(id, OWN, hash ?? `${sha}-${digestOf(entry.path)}`);
    const place = {
      size: entry.size,
      snapshot,
      blob,
      incomplete: blob ?? own,
      segments: segmentFiles(own),
      keepsAll,
      onStored: () => this.#flush(id, sha),
      onFailure: (cause: unknown) => {
        this.note ??= `${this.name} cannot be used: ${cause instanceof Error ? cause.message : cause}`;
      },
    };
    const store = new NodeStore(place);
    try {
      await store.load();
      return store;
    } catch (cause) {
      place.onFailure(cause);
      return memoryStore(keepsAll);
    }
  }

  async list(): Promise<CachedModel[]> {
    const models: CachedModel[] = [];
    const folders = await readdir(this.name).catch(() => []);
    for (const folder of folders.filter((name) => name.startsWith(MODELS)).sort()) {
      const id = folder.slice(MODELS.length).replaceAll('--', '/');
      const own = await readdir(this.#path(id, OWN)).catch(() => []);
      const listed = own.map((name) => /^([\da-f]{40})\.json$/.exec(name)?.[1]).filter((sha) => sha !== undefined);
      const snapshots = await readdir(this.#path(id, 'snapshots')).catch(() => []);
      for (const revision of new Set([...snapshots, ...listed])) models.push(await this.#describe(id, revision));
    }
    return models.filter(({ size }) => size > 0);
  }

  async #describe(id: string, revision: string): Promise<CachedModel> {
    const present = await this.present(id, revision);
    const files = present.map(({ path, size = 0 }) => ({ name: path, size, cached: size }));
    for (const { path, size = 0, hash } of (await this.readList(id, revision)) ?? []) {
      if (hash === undefined || present.some((entry) => entry.path === path)) continue;
      const cached = await this.#partial(id, hash, size);
      if (cached > 0) files.push({ name: path, size, cached });
    }
    return { id, revision, size: files.reduce((sum, { cached }) => sum + cached, 0), files };
  }

  /** Returns the number of stored bytes of an incomplete file. */
  async #partial(id: string, hash: string, size: number) {
    const none = { onFailure() {}, keepsAll: () => false };
    const segments = await new SegmentStore(segmentFiles(this.#path(id, OWN, hash)), size, none).load();
    const names = [`${hash}.incomplete`, `${hash}.headlight.incomplete`];
    const sizes = await Promise.all(names.map((name) => sizeOf(this.#path(id, 'blobs', name))));
    return Math.min(segments.bytes + Math.max(...sizes.map((bytes) => bytes ?? 0)), size);
  }

  async remove(id: string) {
    await rm(this.#path(id), { recursive: true, force: true });
    await rm(join(this.name, '.locks', `${MODELS}${id.replaceAll('/', '--')}`), { recursive: true, force: true });
  }

  /** Writes a text once the model has a snapshot, because those tools report a reference without one as damaged. */
  async #later(id: string, sha: string, path: string, text: string) {
    const key = `${id}@${sha}`;
    this.#waiting.set(key, [...(this.#waiting.get(key) ?? []), [path, text]]);
    if (await lstat(this.#path(id, 'snapshots', sha)).catch(() => null)) await this.#flush(id, sha);
  }

  async #flush(id: string, sha: string) {
    const key = `${id}@${sha}`;
    const waiting = this.#waiting.get(key) ?? [];
    this.#waiting.delete(key);
    for (const [path, text] of waiting) await writeWhole(path, text).catch(() => {});
  }
}
