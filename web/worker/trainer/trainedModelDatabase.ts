// Stores models that were trained in this browser in the browser's IndexedDB. The settings of a model determine the key
// of its record, so a newer model with the same settings replaces the older one.

import type { StoredModel } from '../../model/protocol/protocol.ts';
import type { Curves } from '../../model/training/curves.ts';
import type { Settings } from '../../model/types.ts';
import type { Progress } from './trainer.ts';
export type StoredTraining = {
  key: string;
  settings: Settings;
  steps: number;
  /** the step at which training pauses */
  end: number;
  /** when it was stored, in milliseconds since 1970 */
  at: number;
  /** the file of model.save */
  bytes: Uint8Array;
  curves: Curves;
  progress?: Progress;
};
export type ModelStore = {
  put: (training: StoredTraining) => Promise<void>;
  get: (key: string) => Promise<StoredTraining | undefined>;
  remove: (key: string) => Promise<void>;
  /** the newest first */
  list: () => Promise<StoredModel[]>;
};

/** The progress of a training has an object store of its own, because it is large and is read only to train further. */
const [NAME, STORE, PROGRESS] = ['headlight', 'trained', 'going'];

export function createModelStore(factory: IDBFactory | undefined = globalThis.indexedDB): ModelStore {
  let opened: Promise<IDBDatabase> | undefined;
  const resultOf = <T>(request: IDBRequest<T>): Promise<T> =>
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
        new Promise<never>(
          (_, reject) => (request.onblocked = () => reject(new Error('another tab blocks the storage'))),
        ),
      ]);
      opened.then((store) => (store.onversionchange = () => store.close())).catch(() => {});
      // The next call tries to open the database again.
      opened.catch(() => (opened = undefined));
    }
    return opened;
  }
  async function transact<T>(mode: IDBTransactionMode, act: (stores: IDBObjectStore[]) => IDBRequest<T>): Promise<T> {
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
      let other: IDBRequest<{ going?: Progress } | undefined> | undefined;
      const training = await transact('readonly', ([store, others]) => {
        other = others.get(key);
        return store.get(key) as IDBRequest<StoredTraining | undefined>;
      });
      return training && { ...training, progress: other?.result?.going };
    },
    remove: (key) =>
      transact('readwrite', ([store, others]) => {
        others.delete(key);
        return store.delete(key);
      }),
    async list() {
      const all = (await transact('readonly', ([store]) => store.getAll())) as StoredTraining[];
      return all.map(({ key, settings, steps, at }) => ({ key, settings, steps, at })).sort((a, b) => b.at - a.at);
    },
  };
}
