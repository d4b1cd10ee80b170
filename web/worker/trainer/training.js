// Answers the requests of training. The worker trains one small transformer in short turns, so that it can read
// requests between two turns. The reports and the runs that the page shows during training are parts of the answer to
// one request, `train`. This answer ends when the next request with this verb arrives. The model in training is also a
// source, about which the page can send other requests.

import { readSafetensors } from '../../../src/js/io/formats.js';
import { taughtTask } from '../../features/train/lessons.js';
import { keyOf, OWN_TEXT, settingsOf, USUAL_SPEED } from '../../features/train/settings.js';
import { transformerOf } from '../sources/sources.js';
import { perform } from './controls.js';
import { Display } from './display.js';
import { comparisonWithBase } from './headChanges.js';
import { ownTextTask } from './ownText.js';
import { Pace } from './pace.js';
import { Reporter } from './reporter.js';
import { readSavedFile, StoredModels } from './storedModels.js';
import { createModelStore } from './trainedModelDatabase.js';
import { framesOf, trainedSource } from './trainedRun.js';
import { Trainer } from './trainer.js';
import { TrainingRun } from './trainingRun.js';

/** @import { RequestOf, State } from '../../store/protocol.js' */
/** @import { Settings } from '../../store/types.js' */
/** @import { ModelStore, StoredTraining } from './trainedModelDatabase.js' */
/** @import { Hl, Source, TransformerSource } from '../sources/types.js' */
/** @import { Reply } from '../types.js' */

export class Training {
  #hl;
  #demo;
  /** The model in training. @type {TrainingRun | null} */
  #run = null;
  #pace = new Pace(USUAL_SPEED);
  #reporter = new Reporter();
  #endAnswer = () => {};
  /** Settled when all requests so far have been answered, one after another. @type {Promise<unknown>} */
  #queue = Promise.resolve();

  /**
   * @param {Hl} hl
   * @param {{ open: () => Promise<Source>, readTokenizer: () => Promise<Uint8Array> }} demo the demo model
   * @param {ModelStore} [modelStore]
   */
  constructor(hl, demo, modelStore = createModelStore()) {
    this.#hl = hl;
    this.#demo = demo;
    this.display = new Display(hl, this.#reporter);
    this.storedModels = new StoredModels(modelStore, this.#reporter.send);
  }

  /** The model in training; null before the first request that needs one. */
  get run() {
    return this.#run;
  }

  /** @param {RequestOf<'train'>} request @param {Reply} reply */
  async train(request, reply) {
    this.#endAnswer();
    await this.#enqueue(() => this.#begin(request, reply));
    await new Promise((resolve) => (this.#endAnswer = () => resolve(undefined)));
  }

  /** @param {RequestOf<'controlTraining'>} request @param {Reply} reply */
  control(request, { send }) {
    return this.#enqueue(() => perform(this, request, send));
  }

  acknowledgeReport() {
    this.#reporter.acknowledge();
  }

  /**
   * Returns the model with the settings of a state as a source.
   * @param {Partial<State>} state
   * @returns {Promise<TransformerSource>}
   */
  async source({ training, lesson }) {
    const settings = settingsOf(/** @type {State['training']} */ (training), /** @type {string} */ (lesson));
    const { trainer, version } = await this.#enqueue(() => this.#runOf(settings));
    return trainedSource(trainer, version);
  }

  /** @template T @param {() => T | Promise<T>} act */
  #enqueue(act) {
    const result = this.#queue.then(act);
    this.#queue = result.catch(() => {});
    return result;
  }

  /** @param {RequestOf<'train'>} request @param {Reply} reply */
  async #begin({ state, speed, paced, bytes, fresh = false, start = false }, { send }) {
    const saved = bytes && readSavedFile(bytes);
    const run = saved
      ? await this.#replaceRun(saved.settings, saved)
      : await this.#runOf(settingsOf(state.training, state.lesson), fresh);
    const { trainer } = run;
    this.#reporter.redirect(send, paced === true);
    this.display.chosen = { layer: state.layer, head: state.head };
    this.#pace.speed = speed;
    run.leaveShownStep();
    if (!saved) run.setRate(state.training.rate);
    if (trainer.steps === 0) {
      const { loss, accuracy } = trainer.validate();
      this.#reporter.startWith([0, loss, accuracy]);
    }
    const { settings, steps } = trainer;
    const started = { curves: this.#reporter.curves, settings, steps, frames: framesOf(this.#hl, trainer) };
    this.display.snapshot(run, { started });
    this.storedModels.list();
    if (start && trainer.steps < run.end) run.play();
  }

  /** @param {Settings} settings @param {boolean} [fresh] true to continue neither this model nor a stored one */
  async #runOf(settings, fresh = false) {
    const key = keyOf(settings);
    if (this.#run && this.#run.key === key && !fresh) return this.#run;
    const stored = fresh ? undefined : await this.storedModels.get(key);
    // A stored model whose file is damaged, or does not fit the settings, is trained from the beginning.
    return stored
      ? this.#replaceRun(settings, stored).catch(() => this.#replaceRun(settings))
      : this.#replaceRun(settings);
  }

  /** @param {string} text */
  async #ownTextTask(text) {
    const { model, tokenizer } = transformerOf(await this.#demo.open());
    return ownTextTask(text, { model, tokenizer, readTokenizer: this.#demo.readTokenizer });
  }

  /** @param {Settings} settings @param {StoredTraining} [stored] */
  async #replaceRun(settings, stored) {
    const task = settings.task === OWN_TEXT ? await this.#ownTextTask(settings.text) : taughtTask(settings);
    const trainer = new Trainer(this.#hl, settings, task, stored?.progress && stored.bytes);
    try {
      if (stored) trainer.load(readSafetensors(stored.bytes).tensors, stored.steps, stored.progress);
    } catch (error) {
      trainer.dispose();
      throw error;
    }
    this.#run?.dispose();
    this.#reporter.reset(stored?.curves);
    this.storedModels.restart();
    this.#run = new TrainingRun(trainer, {
      end: Math.max(stored?.end ?? 0, task.training.steps),
      pace: this.#pace,
      reporter: this.#reporter,
      display: this.display,
      storedModels: this.storedModels,
      compare: comparisonWithBase(this.#hl, trainer),
    });
    return this.#run;
  }
}
