// The maps of all heads in this worker: the map of the running scan, and the maps that this browser stores.

import { tokenNames } from '../../../src/js/analysis/tokenNames.ts';
import type { AtlasMap, AtlasSample, AtlasState } from '../../model/protocol/atlasProtocol.ts';
import type { RequestOf } from '../../model/protocol/protocol.ts';
import { headvisMap, headvisPage } from '../sources/headvisSource.ts';
import { transformerOf } from '../sources/sources.ts';
import type { TransformerSource } from '../sources/types.ts';
import type { Reply, WorkerContext } from '../types.ts';
import { type AtlasDatabase, createAtlasDatabase, type HeadRecord } from './atlasDatabase.ts';
import { measureCost } from './headCost.ts';
import { encodePassages, readDemoPassages, timeOfPassage } from './passages.ts';
import { createControl, runScan } from './scanCorpus.ts';
import { fingerprintOf, hashOf } from './scanKey.ts';
/** A map with the scanned passages. nameOf: text of a token; read: page of a head, undefined if no longer stored */
export type Scanned = {
  map: AtlasMap;
  ids: Int32Array[];
  nameOf: (id: number) => string;
  read: (layer: number, head: number) => Promise<HeadRecord | undefined> | HeadRecord;
};

/** Maximum maps that are kept in memory with their passages. */
const MAX_KEPT = 2;

export class Atlas {
  #worker: WorkerContext;
  #database: AtlasDatabase;
  /** Maps in memory by AtlasMap.key, the newest last. */
  #scanned: Map<string, Scanned> = new Map();
  #running: ReturnType<typeof createControl> | null = null;

  constructor(worker: WorkerContext, database: AtlasDatabase = createAtlasDatabase()) {
    this.#worker = worker;
    this.#database = database;
  }

  async #sourceOf(state: AtlasState, reply: Reply): Promise<TransformerSource> {
    return transformerOf(await this.#worker.sourceOf(state, reply));
  }

  async scan({ state, corpus, length, again = false }: RequestOf<'scan'>, reply: Reply) {
    this.#running?.cancel();
    const source = await this.#sourceOf(state, reply);
    const texts = corpus.texts ?? (await readDemoPassages(this.#worker));
    const model = fingerprintOf(source);
    const key = `${model} ${hashOf(texts.join('\n'))} ${length}`;
    const known = again ? undefined : await this.#find(key, source);
    if (known) return reply.send('atlasMap', { map: known.map });
    const read = await encodePassages(source, texts, length, reply);
    const control = createControl(reply.isCancelled);
    this.#running = control;
    try {
      const scanned = await runScan(source, read, {
        key,
        title: corpus.title,
        control,
        onMap: (now) => {
          this.#keep(now);
          reply.send('atlasMap', { map: now.map });
        },
      });
      if (!scanned) return;
      this.#keep(scanned);
      reply.send('atlasMap', { map: scanned.map });
      await this.#store(model, scanned, reply);
    } finally {
      if (this.#running === control) this.#running = null;
    }
  }

  async stored({ state, estimate = false }: RequestOf<'storedScan'>, reply: Reply) {
    const opened = await this.#worker.sourceOf(state, reply);
    if ('headvis' in opened) return reply.send('atlasMap', { map: headvisMap(opened, state.model) });
    // Heads without a model cannot be scanned, so there are neither maps nor an estimate.
    if (!('model' in opened)) return;
    const source = opened;
    const key = await this.#database.newest(fingerprintOf(source)).catch(() => undefined);
    const known = key && (await this.#find(key, source));
    if (known) return reply.send('atlasMap', { map: known.map });
    if (!estimate || reply.isCancelled()) return;
    const time = await timeOfPassage(source, await readDemoPassages(this.#worker));
    if (time) reply.send('atlasEstimate', time);
  }

  control(action: 'pause' | 'continue' | 'stop') {
    this.#running?.[action]();
  }

  async head({ state, key, layer, head }: RequestOf<'scannedHead'>, reply: Reply) {
    const opened = await this.#worker.sourceOf(state, reply);
    if ('headvis' in opened) return reply.send('atlasHead', await headvisPage(opened, key, layer, head));
    const scanned = await this.#find(key, transformerOf(opened));
    const record = await scanned?.read(layer, head);
    if (!scanned || !record) return;
    const { samples, ...tables } = record;
    reply.send('atlasHead', { key, layer, head, ...tables, samples: samples.map((one) => named(one, scanned.nameOf)) });
  }

  async headCost({ state, key, layer, head, role }: RequestOf<'headCost'>, reply: Reply) {
    const source = await this.#sourceOf(state, reply);
    const scanned = await this.#find(key, source);
    if (!scanned) return;
    const hl = await this.#worker.core();
    const place = { layer, head, role };
    const total = scanned.map.done;
    for await (const cost of measureCost(hl, source, scanned.ids.slice(0, total), place)) {
      if (await reply.checkCancelled()) return;
      reply.send('atlasCost', { key, layer, head, total, ...cost });
    }
  }

  async save({ state, key, title }: RequestOf<'saveHeadvis'>, reply: Reply) {
    const source = await this.#sourceOf(state, reply);
    const scanned = await this.#find(key, source);
    const named = scanned && (await this.#worker.roles.of(await this.#worker.core(), source, reply));
    if (!named) return;
    const { headvisArchive } = await import('./headvisArchive.ts');
    const bytes = await headvisArchive(scanned, title, named.roles ? named : null);
    reply.send('headvisFile', { bytes }, [bytes.buffer as ArrayBuffer]);
  }

  #keep(scanned: Scanned) {
    this.#scanned.delete(scanned.map.key);
    this.#scanned.set(scanned.map.key, scanned);
    for (const key of [...this.#scanned.keys()].slice(0, -MAX_KEPT)) this.#scanned.delete(key);
  }

  /** Finds a map in memory or in the storage of this browser. */
  async #find(key: string, source: TransformerSource): Promise<Scanned | undefined> {
    const kept = this.#scanned.get(key);
    if (kept) return kept;
    const record = await this.#database.get(key).catch(() => undefined);
    if (!record) return undefined;
    const scanned = {
      map: { ...record.map, source: 'stored' as const },
      ids: record.ids,
      nameOf: tokenNames({ tokenizer: source.tokenizer }),
      read: (layer: number, head: number) => this.#database.head(key, layer, head),
    };
    this.#keep(scanned);
    return scanned;
  }

  async #store(model: string, { map, ids, read }: Scanned, reply: Reply) {
    const heads = async function* () {
      for (let layer = 0; layer < map.layers; layer++)
        for (let head = 0; head < map.heads; head++) {
          if (await reply.checkCancelled()) return;
          yield { layer, head, record: (await read(layer, head)) as HeadRecord };
        }
    };
    // The map is shown even if the browser has no storage or a full storage.
    await this.#database.put({ key: map.key, model, map, ids }, heads()).catch(() => {});
  }
}

const named = ({ ids, ...sample }: HeadRecord['samples'][number], nameOf: (id: number) => string): AtlasSample => ({
  ...sample,
  tokens: Array.from(ids, nameOf),
});
