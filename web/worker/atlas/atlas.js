// The maps of all heads in this worker: the map of the running scan, and the maps that this browser stores.

import { tokenNames } from '../../../src/js/analysis/tokenNames.js';
import { headvisMap, headvisPage } from '../sources/headvisSource.js';
import { transformerOf } from '../sources/sources.js';
import { createAtlasDatabase } from './atlasDatabase.js';
import { measureCost } from './headCost.js';
import { encodePassages, readDemoPassages, timeOfPassage } from './passages.js';
import { createControl, runScan } from './scanCorpus.js';
import { fingerprintOf, hashOf } from './scanKey.js';

/** @import { AtlasMap, AtlasSample, AtlasState } from '../../store/atlasProtocol.js' */
/** @import { RequestOf } from '../../store/protocol.js' */
/** @import { TransformerSource } from '../sources/types.js' */
/** @import { Reply, WorkerContext } from '../types.js' */
/** @import { AtlasDatabase, HeadRecord } from './atlasDatabase.js' */
/**
 * A map with the scanned passages. nameOf: returns the text of a token. read: returns the page of a head, or undefined
 * if the page is no longer stored.
 * @typedef {object} Scanned
 * @property {AtlasMap} map
 * @property {Int32Array[]} ids
 * @property {(id: number) => string} nameOf
 * @property {(layer: number, head: number) => Promise<HeadRecord | undefined> | HeadRecord} read
 */

/** Maximum maps that are kept in memory with their passages. */
const MAX_KEPT = 2;

export class Atlas {
  #worker;
  #database;
  /** Maps in memory by AtlasMap.key, the newest last. @type {Map<string, Scanned>} */
  #scanned = new Map();
  /** Controls the running scan. @type {ReturnType<typeof createControl> | null} */
  #running = null;

  /** @param {WorkerContext} worker @param {AtlasDatabase} [database] */
  constructor(worker, database = createAtlasDatabase()) {
    this.#worker = worker;
    this.#database = database;
  }

  /** @param {AtlasState} state @param {Reply} reply @returns {Promise<TransformerSource>} */
  async #sourceOf(state, reply) {
    return transformerOf(await this.#worker.sourceOf(state, reply));
  }

  /** @param {RequestOf<'scan'>} request @param {Reply} reply */
  async scan({ state, corpus, length, again = false }, reply) {
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

  /** @param {RequestOf<'storedScan'>} request @param {Reply} reply */
  async stored({ state, estimate = false }, reply) {
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

  /** @param {'pause' | 'continue' | 'stop'} action */
  control(action) {
    this.#running?.[action]();
  }

  /** @param {RequestOf<'scannedHead'>} request @param {Reply} reply */
  async head({ state, key, layer, head }, reply) {
    const opened = await this.#worker.sourceOf(state, reply);
    if ('headvis' in opened) return reply.send('atlasHead', await headvisPage(opened, key, layer, head));
    const scanned = await this.#find(key, transformerOf(opened));
    const record = await scanned?.read(layer, head);
    if (!scanned || !record) return;
    const { samples, ...tables } = record;
    reply.send('atlasHead', { key, layer, head, ...tables, samples: samples.map((one) => named(one, scanned.nameOf)) });
  }

  /** @param {RequestOf<'headCost'>} request @param {Reply} reply */
  async headCost({ state, key, layer, head, role }, reply) {
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

  /** @param {RequestOf<'saveHeadvis'>} request @param {Reply} reply */
  async save({ state, key, title }, reply) {
    const source = await this.#sourceOf(state, reply);
    const scanned = await this.#find(key, source);
    const named = scanned && (await this.#worker.roles.of(await this.#worker.core(), source, reply));
    if (!named) return;
    const { headvisArchive } = await import('./headvisArchive.js');
    const bytes = await headvisArchive(scanned, title, named.roles ? named : null);
    reply.send('headvisFile', { bytes }, [/** @type {ArrayBuffer} */ (bytes.buffer)]);
  }

  /** @param {Scanned} scanned */
  #keep(scanned) {
    this.#scanned.delete(scanned.map.key);
    this.#scanned.set(scanned.map.key, scanned);
    for (const key of [...this.#scanned.keys()].slice(0, -MAX_KEPT)) this.#scanned.delete(key);
  }

  /**
   * Finds a map in memory or in the storage of this browser.
   * @param {string} key
   * @param {TransformerSource} source
   * @returns {Promise<Scanned | undefined>}
   */
  async #find(key, source) {
    const kept = this.#scanned.get(key);
    if (kept) return kept;
    const record = await this.#database.get(key).catch(() => undefined);
    if (!record) return undefined;
    const scanned = {
      map: { ...record.map, source: /** @type {const} */ ('stored') },
      ids: record.ids,
      nameOf: tokenNames({ tokenizer: source.tokenizer }),
      read: (/** @type {number} */ layer, /** @type {number} */ head) => this.#database.head(key, layer, head),
    };
    this.#keep(scanned);
    return scanned;
  }

  /** @param {string} model @param {Scanned} scanned @param {Reply} reply */
  async #store(model, { map, ids, read }, reply) {
    const heads = async function* () {
      for (let layer = 0; layer < map.layers; layer++)
        for (let head = 0; head < map.heads; head++) {
          if (await reply.checkCancelled()) return;
          yield { layer, head, record: /** @type {HeadRecord} */ (await read(layer, head)) };
        }
    };
    // The map is shown even if the browser has no storage or a full storage.
    await this.#database.put({ key: map.key, model, map, ids }, heads()).catch(() => {});
  }
}

/** @param {HeadRecord['samples'][number]} sample @param {(id: number) => string} nameOf @returns {AtlasSample} */
const named = ({ ids, ...sample }, nameOf) => ({ ...sample, tokens: Array.from(ids, nameOf) });
