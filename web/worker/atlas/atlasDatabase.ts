// Stores scans in the IndexedDB of this browser. The record key of a scan is a hash of the model, corpus and settings.

import type { HeadDetails } from '../../../src/js/analysis/scan/headScan.ts';
import type { AtlasMap } from '../../model/protocol/atlasProtocol.ts';
/** The page of a head in the form in which it is stored, with tokens as ids. */
export type HeadRecord = Omit<HeadDetails, 'sequences'> & {
  samples: {
    sequence: number;
    interval: number;
    max: number;
    ids: Int32Array;
    indices: Uint32Array;
    values: Float32Array;
  }[];
};
/** model: a fingerprint. */
export type ScanRecord = { key: string; model: string; map: AtlasMap; ids: Int32Array[] };
export type StoredScan = ScanRecord & { at: number; form: number };
export type PlacedRecord = { layer: number; head: number; record: HeadRecord };
export type AtlasDatabase = {
  put: (scan: ScanRecord, heads: AsyncIterable<PlacedRecord>) => Promise<void>;
  get: (key: string) => Promise<ScanRecord | undefined>;
  /** returns the record key of a model's newest scan */
  newest: (model: string) => Promise<string | undefined>;
  head: (key: string, layer: number, head: number) => Promise<HeadRecord | undefined>;
};

const [NAME, SCANS, HEADS] = ['headlight-atlas', 'scans', 'heads'];
/** The version of the form of the records. Scans in another form are measured again. */
const FORM = 2;
/** Maximum scans that are stored. Older scans are deleted. */
const MAX_SCANS = 8;

const resultOf = <T>(request: IDBRequest<T>): Promise<T> =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });

function open(factory: IDBFactory | undefined): Promise<IDBDatabase> {
  if (!factory) return Promise.reject(new Error('this browser has no storage for this page'));
  const request = factory.open(NAME, 1);
  request.onupgradeneeded = () => {
    request.result.createObjectStore(SCANS, { keyPath: 'key' });
    request.result.createObjectStore(HEADS);
  };
  return resultOf(request);
}

function isReadable(record: Partial<StoredScan> | undefined) {
  const { form, map, ids } = record ?? {};
  return form === FORM && Boolean(map?.measures && map.means && map.chances) && Array.isArray(ids);
}

const headsOf = (key: string) => IDBKeyRange.bound([key], [key, []]);

export function createAtlasDatabase(factory: IDBFactory | undefined = globalThis.indexedDB): AtlasDatabase {
  let opened: Promise<IDBDatabase> | undefined;
  const database = () => {
    opened ??= open(factory);
    // The next call tries to open the database again.
    opened.catch(() => (opened = undefined));
    return opened;
  };
  async function transact<T>(
    mode: IDBTransactionMode,
    act: (scans: IDBObjectStore, heads: IDBObjectStore) => IDBRequest<T>,
  ): Promise<T> {
    const transaction = (await database()).transaction([SCANS, HEADS], mode);
    const done = new Promise((resolve, reject) => {
      transaction.oncomplete = resolve;
      transaction.onabort = () => reject(transaction.error ?? new Error('the transaction was aborted'));
    });
    done.catch(() => {});
    const result = await resultOf(act(transaction.objectStore(SCANS), transaction.objectStore(HEADS)));
    await done;
    return result;
  }
  const all = () => transact('readonly', (scans) => scans.getAll()) as Promise<StoredScan[]>;
  return {
    async put(scan, heads) {
      let count = 0;
      for await (const { layer, head, record } of heads) {
        await transact('readwrite', (_, stored) => stored.put(record, [scan.key, layer, head]));
        count++;
      }
      // The scan is written last, so that no scan exists without all of its heads.
      if (count !== scan.map.layers * scan.map.heads) return;
      await transact('readwrite', (scans) => scans.put({ ...scan, form: FORM, at: Date.now() }));
      const old = (await all()).sort((a, b) => b.at - a.at).slice(MAX_SCANS);
      for (const { key } of old)
        await transact('readwrite', (scans, stored) => {
          stored.delete(headsOf(key));
          return scans.delete(key);
        });
    },
    async get(key) {
      const record = await transact('readonly', (scans) => scans.get(key));
      return isReadable(record) ? record : undefined;
    },
    async newest(model) {
      const own = (await all()).filter((scan) => scan.model === model && isReadable(scan));
      return own.sort((a, b) => b.at - a.at)[0]?.key;
    },
    head: (key, layer, head) => transact('readonly', (_, heads) => heads.get([key, layer, head])),
  };
}
