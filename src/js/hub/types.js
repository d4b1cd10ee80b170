// Types of the parts of the Hub.

/** @import { HeadlightError } from '../check/errors.js' */
/** @import { Variables } from './options.js' */

/**
 * Why the Hub does not give a model: its terms must be accepted; there is no such model, or it is private; no such
 * revision; no such file; the token is not accepted; too many requests; it is not in the cache; there is no connection;
 * the server fails; the file is not the same as before.
 * @typedef {'gated' | 'notFound' | 'revision' | 'entry' | 'token' | 'rateLimit' | 'offline' | 'network' | 'server' |
 *   'changed'} HubReason
 */
/**
 * An error of the Hub: `code` is 'LOAD'. `page` is the address at which the user can act. `expected` lists the
 * revisions or files that exist instead.
 * @typedef {HeadlightError & { reason: HubReason, page?: string }} HubError
 */
/**
 * A file in a repository. size: undefined if a mirror does not list it. hash: git's sha1 of a small file, sha256 of a
 * large one.
 * @typedef {{ path: string, size?: number, hash?: string, isLarge: boolean }} Entry
 */
/** @typedef {Entry & { size: number }} SizedEntry */
/**
 * Received bytes of one file. Bytes that are present already are not written again.
 * @typedef {object} Store
 * @property {(at: number) => number} presentFrom number of consecutive bytes that are present from this one on
 * @property {(at: number) => number} nextPresent the first byte from this one on that is present; Infinity: none
 * @property {boolean} isFinished all bytes are present and were checked
 * @property {(at: number, target: Uint8Array) => Promise<boolean>} read bytes that are present; false: they are not any
 *   more
 * @property {(at: number, bytes: Uint8Array) => Promise<void>} write
 * @property {() => Promise<void>} expectWhole from now on all bytes of the file will be written
 * @property {(before: number) => void} drop bytes that need not stay in memory
 * @property {() => Promise<void>} finish all bytes are present and right
 * @property {() => Promise<void>} discard they are wrong
 * @property {() => Promise<void>} close
 */
/** @typedef {{ name: string, size: number, cached: number }} CachedFile cached: bytes that are present */
/** @typedef {{ id: string, revision: string, size: number, files: CachedFile[] }} CachedModel size: bytes present */
/**
 * A cache: a folder in Node, private storage in a page. A failure to write is not an error: the model opens without
 * being cached.
 * @typedef {object} Cache
 * @property {string} name for errors
 * @property {string | undefined} note the reason if something was not cached
 * @property {(id: string, revision: string) => Promise<string | undefined>} readRevision
 * @property {(id: string, revision: string, sha: string) => Promise<void>} writeRevision
 * @property {(id: string, sha: string) => Promise<Entry[] | undefined>} readList
 * @property {(id: string, sha: string, entries: Entry[]) => Promise<void>} writeList
 * @property {(id: string, sha: string) => Promise<Entry[]>} present files that are complete
 * @property {(id: string, sha: string, entry: SizedEntry, keepsAll: () => boolean) => Promise<Store>} open
 *   keepsAll: true if the server cannot send bytes again that are dropped
 * @property {() => Promise<CachedModel[]>} list
 * @property {(id: string) => Promise<void>} remove
 */
/** @typedef {{ update: (bytes: Uint8Array) => unknown, digest: () => string }} Hash digest: in hexadecimal */
/**
 * The parts that differ between Node and a page.
 * @typedef {object} HubPlatform
 * @property {Variables} [variables] of the environment
 * @property {boolean} follow true if requests follow redirects by themselves
 * @property {(caller: string, cache: true | string) => Promise<Cache | string>} openCache or why there is none
 * @property {() => Hash} sha256
 * @property {(bytes: Uint8Array) => Promise<string>} [digest] sha256 of a buffer, where that is faster
 */

export {};
