// Models that were trained in this browser, kept in its IndexedDB: each under the key of its settings, the newest in
// the place of the one before.

/** @import { Settings } from '../store/types.js' */
/**
 * @typedef {object} Kept
 * @property {string} key
 * @property {Settings} settings
 * @property {number} steps
 * @property {number} end
 * @property {number} at when, in milliseconds since 1970
 * @property {Uint8Array} bytes the file of model.save
 * @property {object} curves
 * @property {import('./trainer/trainer.js').Going} [going]
 */
/**
 * @typedef {object} Shelf
 * @property {(kept: Kept) => Promise<void>} put
 * @property {(key: string) => Promise<Kept | undefined>} get
 * @property {(key: string) => Promise<void>} remove
 * @property {() => Promise<{ key: string, settings: Settings, steps: number, at: number }[]>} list the newest first
 */

/** What it takes to go on is large: it is read only of the model that goes on. */
const [NAME, STORE, GOING] = ['headlight', 'trained', 'going'];

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
      const request = factory.open(NAME, 2);
      request.onupgradeneeded = () => {
        for (const name of [STORE, GOING])
          if (!request.result.objectStoreNames.contains(name))
            request.result.createObjectStore(name, { keyPath: 'key' });
      };
      opened = Promise.race([
        answered(request),
        // An older page in another tab holds it.
        new Promise((_, reject) => (request.onblocked = () => reject(new Error('another tab keeps the storage busy')))),
      ]);
      opened.then((store) => (store.onversionchange = () => store.close())).catch(() => {});
      // It is tried again the next time.
      opened.catch(() => (opened = undefined));
    }
    return opened;
  }
  /**
   * @template T
   * @param {IDBTransactionMode} mode
   * @param {(stores: IDBObjectStore[]) => IDBRequest<T>} act
   * @returns {Promise<T>}
   */
  async function within(mode, act) {
    const transaction = (await database()).transaction([STORE, GOING], mode);
    const done = new Promise((resolve, reject) => {
      transaction.oncomplete = resolve;
      // A full disk is told here.
      transaction.onabort = () => reject(transaction.error ?? new Error('nothing was written'));
    });
    done.catch(() => {});
    const result = await answered(act([STORE, GOING].map((name) => transaction.objectStore(name))));
    await done;
    return result;
  }
  return {
    async put({ going, ...kept }) {
      await within('readwrite', ([store, more]) => {
        more.put({ key: kept.key, going });
        return store.put(kept);
      });
    },
    async get(key) {
      /** @type {IDBRequest | undefined} */
      let more;
      const kept = await within('readonly', ([store, others]) => {
        more = others.get(key);
        return store.get(key);
      });
      return kept && { ...kept, going: more?.result?.going };
    },
    remove: (key) =>
      within('readwrite', ([store, more]) => {
        more.delete(key);
        return store.delete(key);
      }),
    async list() {
      const all = /** @type {Kept[]} */ (await within('readonly', ([store]) => store.getAll()));
      return all.map(({ key, settings, steps, at }) => ({ key, settings, steps, at })).sort((a, b) => b.at - a.at);
    },
  };
}
