// Trained models in the storage of this browser, and files of models that the page has saved.

import { readSafetensors } from '../../../src/js/io/formats.js';
import { noCurves } from '../../features/train/curves.js';
import { keyOf } from '../../features/train/settings.js';
import { checkSettings } from '../../features/train/tasks.js';
import { everyOther } from './snapshots.js';

/** @import { Settings } from '../../store/types.js' */
/** @import { Curves } from '../../features/train/curves.js' */
/** @import { ModelStore, StoredTraining } from './trainedModelDatabase.js' */
/** @import { Send } from '../types.js' */
/** @import { Snapshot } from './snapshots.js' */
/** @import { Progress, Trainer } from './trainer.js' */

/** Milliseconds after which a model in training is stored again. It is also stored whenever training pauses. */
const STORE_EVERY = 10_000;
/** Maximum bytes of the stored snapshots. If there are more, every other snapshot is dropped until the rest fits. */
const MAX_STORED = 8e6;

/**
 * Returns true for valid settings. Another version of the page may have stored models of other tasks.
 * @param {unknown} settings
 */
function isKnown(settings) {
  try {
    checkSettings(/** @type {Settings} */ (settings));
    return true;
  } catch {
    return false;
  }
}

/** Returns true if a record has the form that the page writes. @param {StoredTraining | undefined} stored */
function isReadable(stored) {
  if (!stored || !isKnown(stored.settings)) return false;
  const { steps, end, bytes, curves } = stored;
  const lists = [curves?.loss, curves?.right, ...Object.values(curves?.scores ?? {})];
  return [steps, end].every(Number.isSafeInteger) && bytes instanceof Uint8Array && lists.every(Array.isArray);
}

/** @param {Snapshot} snapshot */
const sizeOf = ({ state }) => Object.values(state).reduce((sum, { data }) => sum + data.byteLength, 0);

/** @param {Trainer} trainer @returns {Progress} */
function limitedProgress(trainer) {
  const { snapshots: all, ...rest } = trainer.progress();
  let snapshots = all;
  while (snapshots.length > 1 && snapshots.length * sizeOf(snapshots[0]) > MAX_STORED)
    snapshots = everyOther(snapshots);
  return { ...rest, snapshots };
}

export class StoredModels {
  #modelStore;
  #send;
  #storedAt = 0;

  /** @param {ModelStore} modelStore @param {Send} send */
  constructor(modelStore, send) {
    this.#modelStore = modelStore;
    this.#send = send;
  }

  get isDue() {
    return performance.now() - this.#storedAt > STORE_EVERY;
  }

  /** Restarts the time until the model is stored, because training of another model begins. */
  restart() {
    this.#storedAt = performance.now();
  }

  /**
   * Returns a stored model; undefined if there is none, or if it cannot be read.
   * @param {string} key
   * @returns {Promise<StoredTraining | undefined>}
   */
  async get(key) {
    const stored = await this.#modelStore.get(key).catch(() => undefined);
    return isReadable(stored) ? stored : undefined;
  }

  /**
   * Stores a model. A failure is reported to the page.
   * @param {Trainer} trainer
   * @param {{ key: string, end: number, curves: Curves }} run
   */
  put(trainer, run) {
    this.#storedAt = performance.now();
    const { settings, steps } = trainer;
    const [bytes, progress] = [trainer.save(), limitedProgress(trainer)];
    this.#modelStore.put({ ...run, settings, steps, at: Date.now(), bytes, progress }).then(
      () => this.list(),
      (error) => {
        const problem = error.name === 'QuotaExceededError' ? 'full' : error.message;
        this.#send('storedModels', { problem });
      },
    );
  }

  async list() {
    const list = await this.#modelStore.list().catch(() => []);
    this.#send('storedModels', { list: list.filter((stored) => isKnown(stored?.settings)) });
  }

  /** @param {string} key */
  async remove(key) {
    await this.#modelStore.remove(key);
    await this.list();
  }
}

/** Reads a model from a file that the page has saved. @param {Uint8Array} bytes @returns {StoredTraining} */
export function readSavedFile(bytes) {
  const { metadata } = readSafetensors(bytes);
  if (!metadata.settings) throw new Error('the file contains no settings of a training, so this page did not save it');
  const settings = JSON.parse(metadata.settings);
  checkSettings(settings);
  const steps = Number(metadata.steps ?? 0);
  return { key: keyOf(settings), settings, steps, end: steps, at: 0, bytes, curves: noCurves() };
}
