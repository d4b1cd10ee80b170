// Types of the Hub client.

/** @import { HeadlightError } from '../check/errors.js' */
/** @import { Variables } from './options.js' */

/**
 * The reason why a model cannot be read from the Hub. gated: its terms must be accepted. notFound: it does not exist or
 * is private. revision, entry: there is no such revision or file. token: the token is not accepted. rateLimit: there
 * were too many requests. offline: the model is not in the cache. network: there is no connection. server: the server
 * fails. changed: the file is not the same as before.
 * @typedef {'gated' | 'notFound' | 'revision' | 'entry' | 'token' | 'rateLimit' | 'offline' | 'network' | 'server' |
 *   'changed'} HubReason
 */
/**
 * An error about the Hub, whose `code` is 'LOAD'. `page` is the address at which the user can act. `expected` lists the
 * revisions or files that exist instead.
 * @typedef {HeadlightError & { reason: HubReason, page?: string }} HubError
 */
/**
 * A file in a repository. size: undefined if a mirror does not list it. hash: Git's SHA-1 of a small file, SHA-256 of a
 * large file. isLarge: stored by Git LFS.
 * @typedef {{ path: string, size?: number, hash?: string, isLarge: boolean }} Entry
 */
/** @typedef {Entry & { size: number }} SizedEntry */
/**
 * Store of the received bytes of one file. Bytes that are already present are not written again.
 * @typedef {object} Store
 * @property {(at: number) => number} presentFrom returns the number of consecutive bytes that are present, starting at
 *   this position
 * @property {(at: number) => number} nextPresent returns the position of the first present byte at or after this
 *   position, or Infinity if there is none
 * @property {boolean} isFinished true if all bytes are present and verified
 * @property {(at: number, target: Uint8Array) => Promise<boolean>} read reads bytes that are present; returns false if
 *   they are not present any more
 * @property {(at: number, bytes: Uint8Array) => Promise<void>} write
 * @property {() => Promise<void>} expectWhole announces that all bytes of the file will be written
 * @property {(before: number) => void} drop allows the store to drop bytes before this position from memory
 * @property {() => Promise<void>} finish marks the file as complete and verified
 * @property {() => Promise<void>} discard removes all bytes, because they are wrong
 * @property {() => Promise<void>} close
 */
/** @typedef {{ name: string, size: number, cached: number }} CachedFile cached: number of bytes in the cache */
/**
 * @typedef {{ id: string, revision: string, size: number, files: CachedFile[] }} CachedModel size: number of bytes in
 *   the cache
 */
/**
 * A cache of models, which is a folder in Node and private storage in a page. If writing fails, no error is thrown, and
 * the model is opened without being cached.
 * @typedef {object} Cache
 * @property {string} name name for errors
 * @property {string | undefined} note the reason if something was not cached
 * @property {(id: string, revision: string) => Promise<string | undefined>} readRevision
 * @property {(id: string, revision: string, sha: string) => Promise<void>} writeRevision
 * @property {(id: string, sha: string) => Promise<Entry[] | undefined>} readList
 * @property {(id: string, sha: string, entries: Entry[]) => Promise<void>} writeList
 * @property {(id: string, sha: string) => Promise<Entry[]>} present returns the complete files
 * @property {(id: string, sha: string, entry: SizedEntry, keepsAll: () => boolean) => Promise<Store>} open keepsAll:
 *   returns true if the server cannot send dropped bytes again
 * @property {() => Promise<CachedModel[]>} list
 * @property {(id: string) => Promise<void>} remove
 */
/** @typedef {'sha1' | 'sha256'} HashName */
/**
 * @typedef {{ update: (bytes: Uint8Array) => unknown, digest: () => string }} Hash digest: returns the hash in
 *   hexadecimal
 */
/**
 * The parts of the Hub client that differ between Node and a page.
 * @typedef {object} HubPlatform
 * @property {Variables} [variables] of the environment
 * @property {boolean} follow true if fetch follows redirects
 * @property {(caller: string, cache: true | string) => Promise<Cache | string>} openCache opens the cache, or returns
 *   the reason why there is none
 * @property {(name: HashName) => Hash} hash
 * @property {(name: HashName, bytes: Uint8Array) => Promise<string>} [digest] returns the hash of a buffer, where that
 *   is faster
 */

export {};
