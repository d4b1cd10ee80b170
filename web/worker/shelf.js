// Models that were trained in this browser, kept in its IndexedDB: each under the key of its settings, the newest in
// the place of the one before.

/** @import { Settings } from '../model/types.js' */
/**
 * @typedef {object} Kept
 * @property {string} key
 * @property {Settings} settings
 * @property {number} steps
 * @property {number} end
 * @property {number} at when, in milliseconds since 1970
 * @property {Uint8Array} bytes the file of model.save
 * @property {object} curves
 */
/**
 * @typedef {object} Shelf
 * @property {(kept: Kept) => Promise<void>} put
 * @property {(key: string) => Promise<Kept | undefined>} get
 * @property {(key: string) => Promise<void>} remove
 * @property {() => Promise<{ key: string, settings: Settings, steps: number, at: number }[]>} list the newest first
 */

const [NAME, STORE] = ['headlight', 'trained'];

/** @param {IDBFactory | undefined} factory @returns {Shelf} */
export function createShelf(factory = globalThis.indexedDB) {
  /** @type {Promise<IDBDatabase> | undefined} */
  let opened;
  /** @template T @param {IDBRequest<T>} request @returns {Promise<T>} */
  const answered = (request) =>
    new Promise((resolve, reject) => {
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => reject(request.error);
    });
  function database() {
    if (!factory) return Promise.reject(new Error('this browser keeps nothing for this page'));
    if (!opened) {
      const request = factory.open(NAME, 1);
      request.onupgradeneeded = () => request.result.createObjectStore(STORE, { keyPath: 'key' });
      opened = answered(request);
      // It is tried again the next time.
      opened.catch(() => (opened = undefined));
    }
    return opened;
  }
  /**
   * @template T
   * @param {IDBTransactionMode} mode
   * @param {(store: IDBObjectStore) => IDBRequest<T>} act
   * @returns {Promise<T>}
   */
  async function within(mode, act) {
    const transaction = (await database()).transaction(STORE, mode);
    const done = new Promise((resolve, reject) => {
      transaction.oncomplete = resolve;
      // A full disk is told here.
      transaction.onabort = () => reject(transaction.error ?? new Error('nothing was written'));
    });
    done.catch(() => {});
    const result = await answered(act(transaction.objectStore(STORE)));
    await done;
    return result;
  }
  return {
    put: async (kept) => void (await within('readwrite', (store) => store.put(kept))),
    get: (key) => within('readonly', (store) => store.get(key)),
    remove: (key) => within('readwrite', (store) => store.delete(key)),
    async list() {
      const all = /** @type {Kept[]} */ (await within('readonly', (store) => store.getAll()));
      return all.map(({ key, settings, steps, at }) => ({ key, settings, steps, at })).sort((a, b) => b.at - a.at);
    },
  };
}
