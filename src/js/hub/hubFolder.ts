// A model on the Hub as a folder, whose files are read in ranges from the cache or from the Hub.

import { argumentError } from '../check/errors.ts';
import type { Folder } from '../models/checkpoint/files.ts';
import { Checksum } from './checksum.ts';
import { Client } from './client.ts';
import { HubFile } from './hubFile.ts';
import { choose } from './kinds.ts';
import { memoryStore } from './memoryStore.ts';
import { DEFAULT_REVISION, readName } from './names.ts';
import { type HubOptions, readHubOptions, type Settings } from './options.ts';
import { noEntry, notCached } from './refusals.ts';
import { RemoteFile } from './remoteFile.ts';
import { encodePath, openRepository, type Repository } from './repository.ts';
import type { Cache, Entry, HubPlatform } from './types.ts';

export type OpenedRepository = {
  requested: string;
  path?: string;
  settings: Settings;
  client: Client;
  repository: Repository;
  platform: HubPlatform;
  cache?: Cache;
  note?: string;
};

export async function openHub(
  caller: string,
  address: string,
  options: HubOptions | undefined,
  platform: HubPlatform,
  signal?: AbortSignal,
): Promise<OpenedRepository> {
  const settings = readHubOptions(caller, options, platform.variables);
  const { id, revision, path } = readName(caller, address, settings.endpoint);
  for (const [parameter, one, other] of [
    ['revision', revision, settings.revision],
    ['file', path, settings.file],
  ])
    if (one !== undefined && other !== undefined && one !== other)
      throw argumentError(caller, parameter as string, other, `${one}, as in the address`);
  const wanted = revision ?? settings.revision ?? DEFAULT_REVISION;
  const { endpoint, token } = settings;
  const place = { caller, endpoint, id, revision: wanted, token };
  const client = new Client(place, { ...settings, signal, follow: platform.follow });
  try {
    const opened = settings.cache === false ? undefined : await platform.openCache(caller, settings.cache);
    const cache = typeof opened === 'string' ? undefined : opened;
    const repository = await openRepository(client, id, wanted, cache, settings.offline);
    client.place = { ...place, id: repository.id };
    const note = typeof opened === 'string' ? opened : undefined;
    return { requested: id, path: path ?? settings.file, settings, client, repository, platform, cache, note };
  } catch (error) {
    client.close();
    throw error;
  }
}

export async function openHubFolder(
  caller: string,
  address: string,
  options: HubOptions | undefined,
  platform: HubPlatform,
  signal?: AbortSignal,
): Promise<Folder> {
  const opened = await openHub(caller, address, options, platform, signal);
  const { client, repository, path } = opened;
  const chosen = choose(repository.entries, path);
  if (chosen) return new HubFolder(opened, chosen.folder, chosen.entries);
  client.close();
  throw noEntry(
    client.place,
    path ?? '',
    repository.entries.map((entry) => entry.path),
  );
}

class HubFolder implements Folder {
  declare names: string[];

  #files: Map<string, Promise<HubFile>> = new Map();
  #opened: OpenedRepository;
  #folder: string;
  #entries: Map<string, Entry>;

  constructor(opened: OpenedRepository, folder: string, entries: Entry[]) {
    this.#opened = opened;
    this.#folder = folder;
    this.#entries = new Map(entries.map((entry) => [entry.path.slice(folder.length), entry]));
    this.names = [...this.#entries.keys()].filter((name) => !name.includes('/'));
  }

  get hint() {
    const { endpoint, id, revision } = this.#opened.client.place;
    return ` in ${endpoint}/${id}/tree/${encodeURIComponent(revision)}${this.#folder ? `/${this.#folder}` : ''}`;
  }

  get origin() {
    const { requested, repository, cache, note, settings } = this.#opened;
    const { id, revision } = repository;
    const reason = cache ? cache.note : (note ?? (settings.cache ? undefined : 'cache: false'));
    return {
      id,
      revision,
      ...(id !== requested && { renamedFrom: requested }),
      cached: cache !== undefined && reason === undefined,
      ...(reason !== undefined && { cacheNote: reason }),
    };
  }

  async size(name: string) {
    const entry = this.#entries.get(name);
    if (entry === undefined) return null;
    return entry.size ?? (await this.#fileOf(name)).size;
  }

  async read(name: string, begin: number, end: number, buffer?: Uint8Array) {
    return (await this.#fileOf(name)).read(begin, end, buffer);
  }

  async readInner(path: string, most: number) {
    const size = await this.size(path);
    return size === null ? null : this.read(path, 0, Math.min(size, most));
  }

  async plan(ranges: { file: string; begin: number; end: number }[]) {
    const files: Map<string, { begin: number; end: number }[]> = new Map();
    for (const { file, begin, end } of ranges) {
      const list = files.get(file) ?? [];
      list.push({ begin, end });
      files.set(file, list);
    }
    for (const [name, list] of files) if (this.#entries.has(name)) await (await this.#fileOf(name)).plan(list);
  }

  async complete() {
    for (const file of this.#files.values()) await (await file).complete();
  }

  close = async () => {
    this.#opened.client.close();
    const files = await Promise.allSettled(this.#files.values());
    await Promise.allSettled(files.map((file) => file.status === 'fulfilled' && file.value.close()));
  };

  #fileOf(name: string) {
    const file = this.#files.get(name) ?? this.#open(this.#entries.get(name) as Entry);
    this.#files.set(name, file);
    file.catch(() => {});
    return file;
  }

  async #open(entry: Entry) {
    const { client, repository, cache, requested, settings, platform } = this.#opened;
    const place = `${client.place.endpoint}/${encodePath(repository.id)}/resolve/${repository.revision}`;
    const url = `${place}/${encodePath(entry.path)}`;
    const remote = new RemoteFile(client, url, { size: 0, ...entry });
    if (entry.size === undefined) await remote.findSize();
    const sized = { ...entry, size: remote.size };
    const keepsAll = () => !remote.hasRanges;
    const store = (await cache?.open(requested, repository.revision, sized, keepsAll)) ?? memoryStore(keepsAll);
    if (settings.offline && store.presentFrom(0) < sized.size)
      remote.stream = () => {
        throw notCached(client.place, cache?.name, entry.path);
      };
    const checksum = entry.hash && !store.isFinished ? new Checksum(sized.size, entry.hash, platform) : undefined;
    return new HubFile(remote, store, { keeps: cache !== undefined, checksum });
  }
}
