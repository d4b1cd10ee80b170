// A model on the Hub as a folder, whose files are read in ranges from the cache or from the Hub.

import { argumentError } from '../check/errors.js';
import { Checksum } from './checksum.js';
import { Client } from './client.js';
import { HubFile } from './hubFile.js';
import { choose } from './kinds.js';
import { memoryStore } from './memoryStore.js';
import { DEFAULT_REVISION, readName } from './names.js';
import { readHubOptions } from './options.js';
import { noEntry, notCached } from './refusals.js';
import { RemoteFile } from './remoteFile.js';
import { encodePath, openRepository } from './repository.js';

/** @import { Folder } from '../models/checkpoint/files.js' */
/** @import { HubOptions, Settings } from './options.js' */
/** @import { Repository } from './repository.js' */
/** @import { Cache, Entry, HubPlatform } from './types.js' */

/**
 * @typedef {{ requested: string, path?: string, settings: Settings, client: Client, repository: Repository,
 *   platform: HubPlatform, cache?: Cache, note?: string }} OpenedRepository
 */

/**
 * Reads the list of files of a model.
 * @param {string} caller
 * @param {string} address
 * @param {HubOptions | undefined} options
 * @param {HubPlatform} platform
 * @param {AbortSignal} [signal]
 * @returns {Promise<OpenedRepository>}
 */
export async function openHub(caller, address, options, platform, signal) {
  const settings = readHubOptions(caller, options, platform.variables);
  const { id, revision, path } = readName(caller, address, settings.endpoint);
  for (const [parameter, one, other] of [
    ['revision', revision, settings.revision],
    ['file', path, settings.file],
  ])
    if (one !== undefined && other !== undefined && one !== other)
      throw argumentError(caller, /** @type {string} */ (parameter), other, `${one}, as in the address`);
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

/**
 * @param {string} caller
 * @param {string} address
 * @param {HubOptions | undefined} options
 * @param {HubPlatform} platform
 * @param {AbortSignal} [signal]
 * @returns {Promise<Folder>}
 */
export async function openHubFolder(caller, address, options, platform, signal) {
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

/** @implements {Folder} */
class HubFolder {
  /** @type {Map<string, Promise<HubFile>>} */
  #files = new Map();
  #opened;
  #folder;
  /** @type {Map<string, Entry>} */
  #entries;

  /** @param {OpenedRepository} opened @param {string} folder @param {Entry[]} entries */
  constructor(opened, folder, entries) {
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

  /** @param {string} name */
  async size(name) {
    const entry = this.#entries.get(name);
    if (entry === undefined) return null;
    return entry.size ?? (await this.#fileOf(name)).size;
  }

  /** @param {string} name @param {number} begin @param {number} end @param {Uint8Array} [buffer] */
  async read(name, begin, end, buffer) {
    return (await this.#fileOf(name)).read(begin, end, buffer);
  }

  /** @param {string} path @param {number} most */
  async readInner(path, most) {
    const size = await this.size(path);
    return size === null ? null : this.read(path, 0, Math.min(size, most));
  }

  /** @param {{ file: string, begin: number, end: number }[]} ranges */
  async plan(ranges) {
    /** @type {Map<string, { begin: number, end: number }[]>} */
    const files = new Map();
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

  /** @param {string} name */
  #fileOf(name) {
    const file = this.#files.get(name) ?? this.#open(/** @type {Entry} */ (this.#entries.get(name)));
    this.#files.set(name, file);
    file.catch(() => {});
    return file;
  }

  /** @param {Entry} entry */
  async #open(entry) {
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
