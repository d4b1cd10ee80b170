// Stores models that were trained in this browser in the browser's IndexedDB. The settings of a model determine the key
// of its record, so a newer model with the same settings replaces the older one.

/** @import { StoredModel } from '../../store/protocol.js' */
/** @import { Settings } from '../../store/types.js' */
/** @import { Curves } from '../../features/train/curves.js' */
/** @import { Progress } from './trainer.js' */
/**
 * @typedef {object} StoredTraining
 * @property {string} key
 * @property {Settings} settings
 * @property {number} steps
 * @property {number} end the step at which training pauses
 * @property {number} at when it was stored, in milliseconds since 1970
 * @property {Uint8Array} bytes the file of model.save
 * @property {Curves} curves
 * @property {Progress} [progress]
 */
/**
 * @typedef {object} ModelStore
 * @property {(training: StoredTraining) => Promise<void>} put
 * @property {(key: string) => Promise<StoredTraining | undefined>} get
 * @property {(key: string) => Promise<void>} remove
 * @property {() => Promise<StoredModel[]>} list the newest first
 */

/** The progress of a training has an object store of its own, because it is large and is read only to train further. */
const [NAME, STORE, PROGRESS] = ['headlight', 'trained', 'going'];

/** @param {IDBFactory | undefined} factory @returns {ModelStore} */
export function createModelStore(factory = globalThis.indexedDB) {
  /** @type {Promise<IDBDatabase> | undefined} */
  let opened;
  /** @template T @param {IDBRequest<T>} request @returns {Promise<T>} */
  const resultOf = (request) =>
    new Promise((resolve, reject) => {
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => reject(request.error);
    });
  function database() {
    if (!factory) return Promise.reject(new Error('this browser has no storage for this page'));
    if (!opened) {
      const request = factory.open(NAME, 2);
      request.onupgradeneeded = () => {
        for (const name of [STORE, PROGRESS])
          if (!request.result.objectStoreNames.contains(name))
            request.result.createObjectStore(name, { keyPath: 'key' });
      };
      opened = Promise.race([
        resultOf(request),
        // An older version of the page in another tab blocks the upgrade.
        new Promise((_, reject) => (request.onblocked = () => reject(new Error('another tab blocks the storage')))),
      ]);
      opened.then((store) => (store.onversionchange = () => store.close())).catch(() => {});
      // The next call tries to open the database again.
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
  async function transact(mode, act) {
    const transaction = (await database()).transaction([STORE, PROGRESS], mode);
    const done = new Promise((resolve, reject) => {
      transaction.oncomplete = resolve;
      // A full disk aborts the transaction.
      transaction.onabort = () => reject(transaction.error ?? new Error('the transaction was aborted'));
    });
    done.catch(() => {});
    const result = await resultOf(act([STORE, PROGRESS].map((name) => transaction.objectStore(name))));
    await done;
    return result;
  }
  return {
    async put({ progress, ...training }) {
      await transact('readwrite', ([store, others]) => {
        others.put({ key: training.key, going: progress });
        return store.put(training);
      });
    },
    async get(key) {
      /** @type {IDBRequest<{ going?: Progress } | undefined> | undefined} */
      let other;
      const training = await transact('readonly', ([store, others]) => {
        other = others.get(key);
        return /** @type {IDBRequest<StoredTraining | undefined>} */ (store.get(key));
      });
      return training && { ...training, progress: other?.result?.going };
    },
    remove: (key) =>
      transact('readwrite', ([store, others]) => {
        others.delete(key);
        return store.delete(key);
      }),
    async list() {
      const all = /** @type {StoredTraining[]} */ (await transact('readonly', ([store]) => store.getAll()));
      return all.map(({ key, settings, steps, at }) => ({ key, settings, steps, at })).sort((a, b) => b.at - a.at);
    },
  };
}
