// Training in the worker: one small transformer that is trained in short turns, so that requests are read between them.
// During training its reports and the run that the screen shows are parts of the answer to one request, `train`, which
// ends with the next request of this verb. Afterwards the model is a source like any other.

import { readSafetensors } from '../../../src/js/io/formats.js';
import { keyOf, settingsOf, taughtTask, USUAL_SPEED } from '../../features/train/lessons.js';
import { perform } from './controls.js';
import { Pace } from './pace.js';
import { Reporter } from './reporter.js';
import { recordOf, recordOfFile } from './storedTraining.js';
import { framesOf, showProbe, trainedSource } from './trainedRun.js';
import { Trainer } from './trainer.js';

/** @import { HeadPlace, ReportDetails, RequestOf, State } from '../../store/protocol.js' */
/** @import { Settings } from '../../store/types.js' */
/** @import { ModelStore, StoredTraining } from '../modelStore.js' */
/** @import { Hl, TransformerSource } from '../sources/types.js' */
/** @import { Reply } from '../worker.js' */

/** Milliseconds that a turn takes before messages are read, and between two runs that are shown. */
const [TURN, SHOW_EVERY] = [30, 260];
/** Milliseconds between two times that the model is stored. It is also stored when training pauses. */
const STORE_EVERY = 10_000;
/** Frames of a film before the training is extended. */
const FRAMES = 40;
/** Steps between two validations. */
const VALIDATE_EVERY = 10;
/** Training has diverged if the loss is so many times the first one, after so many steps. */
const [DIVERGED, MIN_STEPS] = [4, 20];

export class Training {
  #core;
  #modelStore;
  /** @type {Hl | undefined} */
  #hl;
  /** @type {Trainer | null} */
  #trainer = null;
  #key = '';
  /** Training pauses at this step. */
  #end = 0;
  /** Changes with the weights: cached runs of another version are not used. */
  #version = 0;
  #firstLoss = 0;
  #rate = 0;
  #playing = false;
  #pace = new Pace(USUAL_SPEED);
  #reporter = new Reporter();
  /** The head that the screen shows. */
  #chosen = { layer: 0, head: 0 };
  /** The earlier step that the screen shows. @type {number | null} */
  #shownStep = null;
  #shownAt = 0;
  #storedAt = 0;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;
  #endAnswer = () => {};
  /** Requests are answered one after another. @type {Promise<unknown>} */
  #queue = Promise.resolve();

  /** @param {{ core: () => Promise<Hl>, modelStore: ModelStore }} worker */
  constructor({ core, modelStore }) {
    this.#core = core;
    this.#modelStore = modelStore;
  }

  // Requests

  /** @param {RequestOf<'train'>} request @param {Reply} reply */
  async train(request, { send }) {
    this.#endAnswer();
    await this.#enqueue(async () => {
      const { state, fresh = false, start = false, bytes, speed, paced } = request;
      const hl = await this.#load();
      const stored = bytes && recordOfFile(bytes);
      if (stored) this.#replaceTrainer(stored.settings, stored);
      else await this.#ensureTrainer(settingsOf(state.training, state.lesson), fresh);
      const { trainer } = this;
      this.#reporter.redirect(send, paced === true);
      this.#chosen = { layer: state.layer, head: state.head };
      this.#pace.speed = speed;
      this.#leaveShownStep();
      this.setRate(bytes ? this.#rate : state.training.rate);
      if (trainer.steps === 0) this.#reporter.startWith([0, trainer.validate().loss, this.#accuracy()]);
      const { settings, steps } = trainer;
      const frames = framesOf(hl, trainer);
      this.#snapshot({ started: { curves: this.#reporter.curves, settings, steps, frames } });
      this.#listStored();
      if (start && trainer.steps < this.#end) this.play();
    });
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
   * The model of a state's settings as a source.
   * @param {Partial<State>} state
   * @returns {Promise<TransformerSource>}
   */
  async source({ training, lesson }) {
    const settings = settingsOf(/** @type {State['training']} */ (training), /** @type {string} */ (lesson));
    await this.#enqueue(() => this.#ensureTrainer(settings));
    return trainedSource(this.trainer, this.#version);
  }

  /** @template T @param {() => T | Promise<T>} act */
  #enqueue(act) {
    const result = this.#queue.then(act);
    this.#queue = result.catch(() => {});
    return result;
  }

  // The trainer

  get isStarted() {
    return this.#trainer !== null;
  }

  get trainer() {
    return /** @type {Trainer} */ (this.#trainer);
  }

  async #load() {
    return (this.#hl ??= await this.#core());
  }

  /** @param {Settings} settings @param {boolean} [fresh] a stored model is not continued */
  async #ensureTrainer(settings, fresh = false) {
    await this.#load();
    const key = keyOf(settings);
    if (this.#trainer && this.#key === key && !fresh) return;
    const stored = fresh ? undefined : await this.#modelStore.get(key).catch(() => undefined);
    this.#replaceTrainer(settings, stored);
  }

  /** @param {Settings} settings @param {StoredTraining | undefined} stored */
  #replaceTrainer(settings, stored) {
    const task = taughtTask(settings);
    const next = new Trainer(/** @type {Hl} */ (this.#hl), settings, task, stored?.progress && stored.bytes);
    try {
      if (stored) next.load(readSafetensors(stored.bytes).tensors, stored.steps, stored.progress);
    } catch (error) {
      next.dispose();
      throw error;
    }
    this.#stop();
    this.#trainer?.dispose();
    this.#trainer = next;
    this.#key = keyOf(settings);
    this.#version++;
    this.#shownStep = null;
    this.#rate = settings.rate;
    this.#end = Math.max(stored?.end ?? 0, task.training.steps);
    this.#reporter.reset(stored?.curves);
    this.#firstLoss = this.#reporter.curves.loss[0]?.[1] ?? 0;
    this.#storedAt = performance.now();
  }

  // Steps

  play() {
    const { trainer } = this;
    if (this.#leaveShownStep()) this.#version++;
    // A training that has ended is extended by its usual number of steps.
    if (trainer.steps >= this.#end) this.#end = trainer.steps + taughtTask(trainer.settings).training.steps;
    this.#playing = true;
    this.#pace.restart();
    this.#reporter.restartCount();
    this.#turn();
  }

  pause() {
    this.#stop();
    this.#store();
  }

  #stop() {
    this.#playing = false;
    clearTimeout(this.#timer);
  }

  #turn() {
    if (!this.#playing) return;
    const start = performance.now();
    const again = (/** @type {number} */ delay) => (this.#timer = setTimeout(() => this.#turn(), delay));
    if (this.#reporter.isWaiting) return again(TURN);
    do {
      if (!this.#pace.takeStep()) break;
      if (!this.#step()) return this.#store();
      if (this.trainer.steps >= this.#end) {
        this.pause();
        return this.#snapshot();
      }
    } while (performance.now() - start < TURN);
    if (performance.now() - this.#shownAt > SHOW_EVERY) this.show();
    else if (this.#reporter.isDue) this.#report();
    if (performance.now() - this.#storedAt > STORE_EVERY) this.#store();
    again(this.#pace.delay);
  }

  /** One step. @returns {boolean} false if training has diverged */
  #step() {
    const { trainer } = this;
    const { loss } = trainer.step();
    this.#version++;
    this.#reporter.countStep();
    const { steps } = trainer;
    if (steps === 1) this.#firstLoss = loss;
    const nan = !Number.isFinite(loss);
    if (nan || (steps > MIN_STEPS && loss > DIVERGED * this.#firstLoss)) {
      trainer.recover();
      this.#version++;
      this.#playing = false;
      this.#snapshot({ diverged: { step: steps, nan, back: trainer.steps, rate: this.#rate } });
      return false;
    }
    const validates = steps % VALIDATE_EVERY === 0 || steps === 1;
    this.#reporter.add(validates ? [steps, loss, this.#accuracy()] : [steps, loss]);
    if (steps % Math.max(Math.round(this.#end / FRAMES), 1) === 0) this.#snapshot();
    return true;
  }

  stepOnce() {
    this.#stop();
    this.#leaveShownStep();
    if (this.trainer.steps >= this.#end) this.#end = this.trainer.steps + 1;
    if (this.#step()) {
      this.#reporter.completeLast(() => this.#accuracy());
      this.show();
    }
    this.#store();
  }

  /** Shows the model at an earlier step. @param {number} step */
  goBack(step) {
    this.#stop();
    const { trainer } = this;
    const i = trainer.snapshots.indexOf(step);
    if (i < 0) return;
    const isNewest = i === trainer.snapshots.length - 1 && step === trainer.steps;
    if (isNewest) trainer.resume();
    else trainer.goBack(i);
    this.#shownStep = isNewest ? null : step;
    this.#version++;
    this.show();
  }

  /** @returns {boolean} true if an earlier step was shown */
  #leaveShownStep() {
    if (this.#shownStep === null) return false;
    this.trainer.resume();
    this.#shownStep = null;
    return true;
  }

  /** @param {number} rate */
  setRate(rate) {
    this.#rate = rate;
    this.trainer.setRate(rate);
  }

  /** @param {number | null} speed */
  setSpeed(speed) {
    this.#pace.speed = speed;
    this.#pace.restart();
    if (!this.#playing) return;
    clearTimeout(this.#timer);
    this.#turn();
  }

  /** @param {HeadPlace} chosen */
  chooseHead(chosen) {
    this.#chosen = chosen;
    this.show();
  }

  // Reports

  #accuracy() {
    return this.trainer.validate().accuracy;
  }

  #showProbe() {
    this.#shownAt = performance.now();
    const { trainer } = this;
    return showProbe(/** @type {Hl} */ (this.#hl), trainer, this.#version, this.#chosen, this.#reporter.send);
  }

  /** Shows the model as it is. */
  show() {
    const { scores } = this.#showProbe();
    this.#report(this.#shownStep === null ? { scores } : {});
  }

  /** Takes a snapshot, and reports it as a frame of the film. @param {ReportDetails} [details] */
  #snapshot(details) {
    const { trainer } = this;
    const { steps } = trainer;
    trainer.takeSnapshot();
    const { weights, scores } = this.#showProbe();
    this.#report({ ...details, scores, frame: { step: steps, weights }, snapshots: trainer.snapshots });
  }

  /** @param {ReportDetails} [details] */
  #report(details) {
    const { steps, settings } = this.trainer;
    const [end, at, playing, key] = [this.#end, this.#shownStep, this.#playing, this.#key];
    this.#reporter.report({ steps, end, at, playing, key, settings }, details);
  }

  // The model store

  /** Stores the model. A failure is reported to the page. */
  #store() {
    const trainer = this.#trainer;
    if (!trainer || trainer.steps === 0 || this.#shownStep !== null) return;
    this.#storedAt = performance.now();
    const curves = this.#reporter.allCurves(trainer.steps);
    this.#modelStore.put(recordOf(trainer, { key: this.#key, end: this.#end, curves })).then(
      () => this.#listStored(),
      (error) => {
        const problem = error.name === 'QuotaExceededError' ? 'full' : error.message;
        this.#reporter.send('storedModels', { problem });
      },
    );
  }

  async #listStored() {
    const list = await this.#modelStore.list().catch(() => []);
    this.#reporter.send('storedModels', { list });
  }

  /** @param {string} key */
  async removeStored(key) {
    await this.#modelStore.remove(key);
    await this.#listStored();
  }
}
