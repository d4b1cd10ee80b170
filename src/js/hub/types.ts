// Types of the Hub client.

import type { HeadlightError } from '../check/errors.ts';
import type { Variables } from './options.ts';

/**
 * The reason why a model cannot be read from the Hub. gated: its terms must be accepted. notFound: it does not exist or
 * is private. revision, entry: there is no such revision or file. token: the token is not accepted. rateLimit: there
 * were too many requests. offline: the model is not in the cache. network: there is no connection. server: the server
 * fails. changed: the file is not the same as before.
 */
export type HubReason =
  | 'gated'
  | 'notFound'
  | 'revision'
  | 'entry'
  | 'token'
  | 'rateLimit'
  | 'offline'
  | 'network'
  | 'server'
  | 'changed';
/**
 * An error about the Hub, whose `code` is 'LOAD'. `page` is the address at which the user can act. `expected` lists the
 * revisions or files that exist instead.
 */
export type HubError = HeadlightError & { reason: HubReason; page?: string };
/**
 * A file in a repository. size: undefined if a mirror does not list it. hash: Git's SHA-1 of a small file, SHA-256 of a
 * large file. isLarge: stored by Git LFS.
 */
export type Entry = { path: string; size?: number; hash?: string; isLarge: boolean };
export type SizedEntry = Entry & { size: number };
/** Store of the received bytes of one file. Bytes that are already present are not written again. */
export type Store = {
  /** returns the number of consecutive bytes that are present, starting at this position */
  presentFrom: (at: number) => number;
  /** returns the position of the first present byte at or after this position, or Infinity if there is none */
  nextPresent: (at: number) => number;
  /** true if all bytes are present and verified */
  isFinished: boolean;
  /** reads bytes that are present; returns false if they are not present any more */
  read: (at: number, target: Uint8Array) => Promise<boolean>;
  write: (at: number, bytes: Uint8Array) => Promise<void>;
  /** announces that all bytes of the file will be written */
  expectWhole: () => Promise<void>;
  /** allows the store to drop bytes before this position from memory */
  drop: (before: number) => void;
  /** marks the file as complete and verified */
  finish: () => Promise<void>;
  /** removes all bytes, because they are wrong */
  discard: () => Promise<void>;
  close: () => Promise<void>;
};
/** cached: number of bytes in the cache */
export type CachedFile = { name: string; size: number; cached: number };
/**
 * size: number of bytes in
 *   the cache
 */
export type CachedModel = { id: string; revision: string; size: number; files: CachedFile[] };
/**
 * A cache of models, which is a folder in Node and private storage in a page. If writing fails, no error is thrown, and
 * the model is opened without being cached.
 */
export type Cache = {
  /** name for errors */
  name: string;
  /** the reason if something was not cached */
  note: string | undefined;
  readRevision: (id: string, revision: string) => Promise<string | undefined>;
  writeRevision: (id: string, revision: string, sha: string) => Promise<void>;
  readList: (id: string, sha: string) => Promise<Entry[] | undefined>;
  writeList: (id: string, sha: string, entries: Entry[]) => Promise<void>;
  /** returns the complete files */
  present: (id: string, sha: string) => Promise<Entry[]>;
  /** keepsAll: returns true if the server cannot send dropped bytes again */
  open: (id: string, sha: string, entry: SizedEntry, keepsAll: () => boolean) => Promise<Store>;
  list: () => Promise<CachedModel[]>;
  remove: (id: string) => Promise<void>;
};
export type HashName = 'sha1' | 'sha256';
/**
 * digest: returns the hash in
 *   hexadecimal
 */
export type Hash = { update: (bytes: Uint8Array) => unknown; digest: () => string };
/** The parts of the Hub client that differ between Node and a page. */
export type HubPlatform = {
  /** of the environment */
  variables?: Variables;
  /** true if fetch follows redirects */
  follow: boolean;
  /** opens the cache, or returns the reason why there is none */
  openCache: (caller: string, cache: true | string) => Promise<Cache | string>;
  hash: (name: HashName) => Hash;
  /** returns the hash of a buffer, where that is faster */
  digest?: (name: HashName, bytes: Uint8Array) => Promise<string>;
};
