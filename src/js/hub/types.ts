// Types of the Hub client.

import type { HeadlightError } from '../check/errors.ts';
import type { Variables } from './options.ts';

/**
 * gated: its terms must be accepted. notFound: missing or private. revision, entry: no such revision or file. token:
 * not accepted. rateLimit: too many requests. offline: not in the cache. network: no connection. server: the server
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
 * The code of an error about the Hub is 'LOAD'. page: where the user can act; expected: existing revisions or files.
 */
export type HubError = HeadlightError & { reason: HubReason; page?: string };
/** size: undefined if a mirror does not list it. hash: Git's SHA-1, or SHA-256 of a file in Git LFS (isLarge). */
export type Entry = { path: string; size?: number; hash?: string; isLarge: boolean };
export type SizedEntry = Entry & { size: number };
/** Store of the received bytes of one file. Bytes that are already present are not written again. */
export type Store = {
  /** number of consecutive present bytes from this position */
  presentFrom: (at: number) => number;
  /** the first present byte at or after this position, or Infinity */
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
  finish: () => Promise<void>;
  /** removes all bytes, because they are wrong */
  discard: () => Promise<void>;
  close: () => Promise<void>;
};
/** cached: number of bytes in the cache */
export type CachedFile = { name: string; size: number; cached: number };
/** size: bytes in the cache */
export type CachedModel = { id: string; revision: string; size: number; files: CachedFile[] };
/**
 * A folder in Node, private storage in a page. If writing fails, no error is thrown, and the model is opened without
 * it.
 */
export type Cache = {
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
/** digest: in hexadecimal */
export type Hash = { update: (bytes: Uint8Array) => unknown; digest: () => string };
/** The parts of the Hub client that differ between Node and a page. */
export type HubPlatform = {
  variables?: Variables | undefined;
  follow: boolean;
  /** opens the cache, or returns the reason why there is none */
  openCache: (caller: string, cache: true | string) => Promise<Cache | string>;
  hash: (name: HashName) => Hash;
  digest?: ((name: HashName, bytes: Uint8Array) => Promise<string>) | undefined;
};
