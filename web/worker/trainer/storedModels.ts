// Trained models in the storage of this browser, and files of models that the page has saved.

import { readSafetensors } from '../../../src/js/io/formats.ts';
import { type Curves, noCurves } from '../../model/training/curves.ts';
import { keyOf } from '../../model/training/settings.ts';
import { checkSettings } from '../../model/training/tasks.ts';
import type { Settings } from '../../model/types.ts';
import type { Send } from '../types.ts';
import { everyOther, type Snapshot } from './snapshots.ts';
import type { ModelStore, StoredTraining } from './trainedModelDatabase.ts';
import type { Progress, Trainer } from './trainer.ts';

/** Milliseconds after which a model in training is stored again. It is also stored whenever training pauses. */
const STORE_EVERY = 10_000;
/** Maximum bytes of the stored snapshots. If there are more, every other snapshot is dropped until the rest fits. */
const MAX_STORED = 8e6;

/** Returns true for valid settings. Another version of the page may have stored models of other tasks. */
function isKnown(settings: unknown) {
  try {
    checkSettings(settings as Settings);
    return true;
  } catch {
    return false;
  }
}

/** Returns true if a record has the form that the page writes. */
function isReadable(stored: StoredTraining | undefined) {
  if (!stored || !isKnown(stored.settings)) return false;
  const { steps, end, bytes, curves } = stored;
  const lists = [curves?.loss, curves?.right, ...Object.values(curves?.scores ?? {})];
  return [steps, end].every(Number.isSafeInteger) && bytes instanceof Uint8Array && lists.every(Array.isArray);
}

const sizeOf = ({ state }: Snapshot) => Object.values(state).reduce((sum, { data }) => sum + data.byteLength, 0);

function limitedProgress(trainer: Trainer): Progress {
  const { snapshots: all, ...rest } = trainer.progress();
  let snapshots = all;
  while (snapshots.length > 1 && snapshots.length * sizeOf(snapshots[0]) > MAX_STORED)
    snapshots = everyOther(snapshots);
  return { ...rest, snapshots };
}

export class StoredModels {
  #modelStore: ModelStore;
  #send: Send;
  #storedAt = 0;

  constructor(modelStore: ModelStore, send: Send) {
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

  /** Returns a stored model; undefined if there is none, or if it cannot be read. */
  async get(key: string): Promise<StoredTraining | undefined> {
    const stored = await this.#modelStore.get(key).catch(() => undefined);
    return isReadable(stored) ? stored : undefined;
  }

  /** Stores a model. A failure is reported to the page. */
  put(trainer: Trainer, run: { key: string; end: number; curves: Curves }) {
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

  async remove(key: string) {
    await this.#modelStore.remove(key);
    await this.list();
  }
}

export function readSavedFile(bytes: Uint8Array): StoredTraining {
  const { metadata } = readSafetensors(bytes);
  if (!metadata.settings) throw new Error('the file contains no settings of a training, so this page did not save it');
  const settings = JSON.parse(metadata.settings);
  checkSettings(settings);
  const steps = Number(metadata.steps ?? 0);
  return { key: keyOf(settings), settings, steps, end: steps, at: 0, bytes, curves: noCurves() };
}
