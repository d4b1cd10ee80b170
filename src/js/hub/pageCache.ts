// The cache of a page is its private storage (OPFS), shared by an origin: a folder for each id and commit, in which
// each file is a folder of segments.

import { argumentError } from '../check/errors.ts';
import { memoryStore } from './memoryStore.ts';
import { isSafePath } from './names.ts';
import { type SegmentFiles, SegmentStore } from './segments.ts';

import type { Cache, CachedModel, Entry, SizedEntry, Store } from './types.ts';

const ROOT = 'headlight-hub';
const [REVISIONS, LIST] = ['revisions', 'list.json'];
/** If this number of bytes is cached, the browser is asked not to delete them when the disk is full. */
const LARGE = 2 ** 25;
/** Bytes of storage that are left for the rest of the page. */
const RESERVE = 2 ** 22;

/** returns the cache, or the reason why there is none */
export async function openPageCache(caller: string, cache: true | string): Promise<Cache | string> {
  if (typeof cache === 'string')
    throw argumentError(caller, 'cache', cache, 'true or false, because a page has no folders');
  const { storage } = globalThis.navigator ?? {};
  if (typeof storage?.getDirectory !== 'function') return 'this browser or page has no private storage';
  try {
    const root = await (await storage.getDirectory()).getDirectoryHandle(ROOT, { create: true });
    return new PageCache(root, storage);
  } catch (cause) {
    return `the private storage of the page cannot be used: ${textOf(cause)}`;
  }
}

const textOf = (cause: unknown) =>
  cause instanceof Error || cause instanceof DOMException ? cause.message : String(cause);

const encode = (text: string) => encodeURIComponent(text).replaceAll('.', '%2E').replaceAll('*', '%2A');

class PageCache {
  name = 'the private storage of this page';
  note: string | undefined;
  #root: FileSystemDirectoryHandle;
  #storage: StorageManager;
  #written = 0;

  constructor(root: FileSystemDirectoryHandle, storage: StorageManager) {
    this.#root = root;
    this.#storage = storage;
  }

  #model = (id: string, sha: string, create = false) =>
    this.#root.getDirectoryHandle(encode(`${id}@${sha}`), { create });

  async readRevision(id: string, revision: string) {
    const folder = await this.#root.getDirectoryHandle(REVISIONS).catch(() => null);
    const text = folder ? await readText(folder, encode(`${id}@${revision}`)) : undefined;
    return text && /^[\da-f]{40}$/.test(text) ? text : undefined;
  }

  async writeRevision(id: string, revision: string, sha: string) {
    if ((await this.readRevision(id, revision)) === sha) return;
    await this.#try(async () => {
      const folder = await this.#root.getDirectoryHandle(REVISIONS, { create: true });
      await writeFile(folder, encode(`${id}@${revision}`), [new TextEncoder().encode(sha)]);
    });
  }

  async readList(id: string, sha: string): Promise<Entry[] | undefined> {
    try {
      const entries = JSON.parse((await readText(await this.#model(id, sha), LIST)) ?? '');
      if (Array.isArray(entries) && entries.every(({ path }) => isSafePath(path))) return entries;
    } catch {
      // The list is missing or damaged, so it is requested again.
    }
    return undefined;
  }

  async writeList(id: string, sha: string, entries: Entry[]) {
    const bytes = new TextEncoder().encode(JSON.stringify(entries));
    await this.#try(async () => writeFile(await this.#model(id, sha, true), LIST, [bytes]));
  }

  /** Returns no files, because this cache is never written without a list of files. */
  async present(): Promise<Entry[]> {
    return [];
  }

  async open(id: string, sha: string, entry: SizedEntry, keepsAll: () => boolean): Promise<Store> {
    if (this.note !== undefined) return memoryStore(keepsAll);
    const files = segmentFiles(
      () => this.#model(id, sha, true),
      encode(entry.path),
      (bytes) => this.#count(bytes),
    );
    return new SegmentStore(files, entry.size, {
      keepsAll,
      onFailure: (cause) => {
        this.note ??= `the private storage of the page cannot hold the model: ${textOf(cause)}`;
      },
      whyNoRoom: (bytes) => this.#whyNoRoom(bytes),
    }).load();
  }

  async #whyNoRoom(bytes: number): Promise<string | undefined> {
    const { quota = Infinity, usage = 0 } = await this.#estimate();
    const room = quota - usage - RESERVE;
    if (bytes <= room) return undefined;
    const [needed, left] = [bytes, Math.max(room, 0)].map((count) => `${Math.round(count / 2 ** 20)} MB`);
    return `it needs ${needed}, and there is room for ${left}`;
  }

  async #estimate(): Promise<StorageEstimate> {
    return this.#storage.estimate?.().catch(() => ({})) ?? {};
  }

  /** Asks for persistent storage after LARGE bytes, but not in a worker, where the browser has no method for it. */
  #count(bytes: number) {
    const before = this.#written;
    this.#written += bytes;
    if (before < LARGE && this.#written >= LARGE) void this.#storage.persist?.().catch(() => {});
  }

  async list(): Promise<CachedModel[]> {
    const models: CachedModel[] = [];
    for (const [name, folder] of await entriesOf(this.#root)) {
      const [, id, revision] = /^(.+)@([\da-f]{40})$/.exec(decodeURIComponent(name)) ?? [];
      if (id === undefined || folder.kind !== 'directory') continue;
      const entries = (await this.readList(id, revision)) ?? [];
      const files = [];
      for (const { path, size = 0 } of entries) {
        const segments = segmentFiles(async () => folder as FileSystemDirectoryHandle, encode(path));
        const { bytes } = await new SegmentStore(segments, size, { onFailure() {}, keepsAll: () => false }).load();
        if (bytes > 0) files.push({ name: path, size, cached: bytes });
      }
      models.push({ id, revision, size: files.reduce((sum, { cached }) => sum + cached, 0), files });
    }
    return models.filter(({ size }) => size > 0).sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  async remove(id: string) {
    const isOf = (name: string) => decodeURIComponent(name).startsWith(`${id}@`);
    for (const [name] of await entriesOf(this.#root))
      if (isOf(name)) await this.#root.removeEntry(name, { recursive: true });
    const revisions = await this.#root.getDirectoryHandle(REVISIONS).catch(() => null);
    for (const [name] of revisions ? await entriesOf(revisions) : [])
      if (isOf(name)) await revisions?.removeEntry(name);
  }

  async #try(write: () => Promise<unknown>) {
    try {
      await write();
    } catch (cause) {
      this.note ??= `the private storage of the page cannot be written: ${textOf(cause)}`;
    }
  }
}

async function entriesOf(folder: FileSystemDirectoryHandle): Promise<[string, FileSystemHandle][]> {
  const entries: [string, FileSystemHandle][] = [];
  for await (const entry of (folder as any).entries()) entries.push(entry);
  return entries;
}

async function readText(folder: FileSystemDirectoryHandle, name: string) {
  try {
    return await (await (await folder.getFileHandle(name)).getFile()).text();
  } catch {
    return undefined;
  }
}

/**
 * Writes a file. If writing is interrupted, there is no file, or a file whose size differs from the size in its name.
 */
async function writeFile(folder: FileSystemDirectoryHandle, name: string, parts: Uint8Array[]) {
  const handle = (await folder.getFileHandle(name, { create: true })) as any;
  if (typeof handle.createWritable !== 'function') return writeInWorker(handle, parts);
  const stream = await handle.createWritable();
  try {
    for (const part of parts) await stream.write(part);
    await stream.close();
  } catch (error) {
    await stream.abort().catch(() => {});
    await folder.removeEntry(name).catch(() => {});
    throw error;
  }
}

/** Writes a file in Safari before 26. */
async function writeInWorker(handle: any, parts: Uint8Array[]) {
  if (typeof handle.createSyncAccessHandle !== 'function')
    throw new Error('this browser writes to private storage in workers only');
  const access = await handle.createSyncAccessHandle();
  try {
    access.truncate(0);
    let at = 0;
    for (const part of parts) at += access.write(part, { at });
    access.flush();
  } finally {
    access.close();
  }
}

function segmentFiles(
  parent: () => Promise<FileSystemDirectoryHandle>,
  name: string,
  onWritten?: (bytes: number) => void,
): SegmentFiles {
  const opened: Map<string, File> = new Map();
  const folder = async (create = false) => (await parent()).getDirectoryHandle(name, { create });
  const fileOf = async (segment: string) => {
    const file = opened.get(segment) ?? (await (await (await folder()).getFileHandle(segment)).getFile());
    opened.set(segment, file);
    return file;
  };
  return {
    list: async () => (await entriesOf(await folder())).map(([segment]) => segment),
    size: async (segment) => (await fileOf(segment)).size,
    async read(segment, at, target) {
      const file = await fileOf(segment);
      target.set(new Uint8Array(await file.slice(at, at + target.length).arrayBuffer()));
    },
    async write(segment, parts) {
      await writeFile(await folder(true), segment, parts);
      opened.delete(segment);
      onWritten?.(parts.reduce((sum, { length }) => sum + length, 0));
    },
    async clear() {
      opened.clear();
      await (await parent()).removeEntry(name, { recursive: true });
    },
  };
}
