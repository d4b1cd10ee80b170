// Runs the training of one model, continuously or in single steps. Training can be paused to show an earlier step.

import { keyOf } from '../../features/train/settings.js';

/** @import { comparisonWithBase } from './headChanges.js' */
/** @import { Display } from './display.js' */
/** @import { Pace } from './pace.js' */
/** @import { Reporter } from './reporter.js' */
/** @import { StoredModels } from './storedModels.js' */
/** @import { Trainer } from './trainer.js' */

/** Milliseconds after which a turn ends, so that the worker reads messages. */
const TURN = 30;
/** The number of frames of a film. A training that was extended may have another number of frames. */
const FRAMES = 40;
/** Steps between two validations. */
const VALIDATE_EVERY = 10;
/** Training has diverged if, after MIN_STEPS steps, the loss is DIVERGED times the first loss. */
const [DIVERGED, MIN_STEPS] = [4, 20];

/** Counts the versions of the weights of all models, because runs are cached by version. */
let versions = 0;

export class TrainingRun {
  #pace;
  #reporter;
  #display;
  #storedModels;
  #compare;
  #playing = false;
  #rate;
  #firstLoss;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;

  /**
   * @param {Trainer} trainer
   * @param {object} parts
   * @param {number} parts.end
   * @param {Pace} parts.pace
   * @param {Reporter} parts.reporter
   * @param {Display} parts.display
   * @param {StoredModels} parts.storedModels
   * @param {ReturnType<typeof comparisonWithBase>} parts.compare
   */
  constructor(trainer, { end, pace, reporter, display, storedModels, compare }) {
    this.trainer = trainer;
    this.key = keyOf(trainer.settings);
    /** Training pauses at this step. */
    this.end = end;
    /** The earlier step that the screen shows. @type {number | null} */
    this.shownStep = null;
    this.version = ++versions;
    this.#pace = pace;
    this.#reporter = reporter;
    this.#display = display;
    this.#storedModels = storedModels;
    this.#compare = compare;
    this.#rate = trainer.settings.rate;
    this.#firstLoss = reporter.curves.loss[0]?.[1] ?? 0;
  }

  /** The progress as a report contains it. */
  get progress() {
    const { trainer, end, shownStep: at, key } = this;
    return { steps: trainer.steps, end, at, playing: this.#playing, key, settings: trainer.settings };
  }

  /** Returns the changes of a model that is trained further, as a report contains them. */
  changes() {
    const step = this.shownStep ?? this.trainer.steps;
    return this.#compare ? { changes: { step, ...this.#compare() } } : {};
  }

  play() {
    const { trainer } = this;
    if (this.leaveShownStep()) this.version = ++versions;
    // A training that has ended is extended by the usual number of steps of its task.
    if (trainer.steps >= this.end) this.end = trainer.steps + trainer.task.training.steps;
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

  /** Performs steps until the turn ends, and schedules the next turn, so that messages are read before that turn. */
  #turn() {
    if (!this.#playing) return;
    const start = performance.now();
    if (this.#reporter.isWaiting) return this.#turnAfter(TURN);
    do {
      if (!this.#pace.takeStep()) break;
      if (!this.#step()) return this.#store();
      if (this.trainer.steps >= this.end) {
        this.pause();
        return this.#display.snapshot(this);
      }
    } while (performance.now() - start < TURN);
    if (this.#display.isDue) this.#display.show(this);
    else if (this.#reporter.isDue) this.#reporter.report(this.progress);
    if (this.#storedModels.isDue) this.#store();
    this.#turnAfter(this.#pace.delay);
  }

  /** @param {number} delay milliseconds */
  #turnAfter(delay) {
    this.#timer = setTimeout(() => this.#turn(), delay);
  }

  /** Performs one step and reports it. @returns {boolean} false if training has diverged */
  #step() {
    const { trainer } = this;
    const { loss } = trainer.step();
    this.version = ++versions;
    this.#reporter.countStep();
    const { steps } = trainer;
    if (steps === 1) this.#firstLoss = loss;
    const nan = !Number.isFinite(loss);
    if (nan || (steps > MIN_STEPS && loss > DIVERGED * this.#firstLoss)) {
      trainer.recover();
      this.version = ++versions;
      this.#playing = false;
      this.#display.snapshot(this, { diverged: { step: steps, nan, back: trainer.steps, rate: this.#rate } });
      return false;
    }
    const validates = steps % VALIDATE_EVERY === 0 || steps === 1;
    this.#reporter.add(validates ? [steps, loss, trainer.validate().accuracy] : [steps, loss]);
    if (steps % Math.max(Math.round(this.end / (trainer.task.limits?.frames ?? FRAMES)), 1) === 0)
      this.#display.snapshot(this);
    return true;
  }

  stepOnce() {
    this.#stop();
    this.leaveShownStep();
    if (this.trainer.steps >= this.end) this.end = this.trainer.steps + 1;
    if (this.#step()) {
      this.#reporter.completeLast(() => this.trainer.validate().accuracy);
      this.#display.show(this);
    }
    this.#store();
  }

  /** Stops training, and shows the model with the weights of an earlier step. @param {number} step */
  goBack(step) {
    this.#stop();
    const { trainer } = this;
    const i = trainer.snapshots.indexOf(step);
    if (i < 0) return;
    const isNewest = i === trainer.snapshots.length - 1 && step === trainer.steps;
    if (isNewest) trainer.resume();
    else trainer.goBack(i);
    this.shownStep = isNewest ? null : step;
    this.version = ++versions;
    this.#display.show(this);
  }

  /** Loads the newest weights again. @returns {boolean} true if an earlier step was shown */
  leaveShownStep() {
    if (this.shownStep === null) return false;
    this.trainer.resume();
    this.shownStep = null;
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

  /** Stores the model, unless it has not been trained yet or has the weights of an earlier step. */
  #store() {
    if (this.trainer.steps === 0 || this.shownStep !== null) return;
    const curves = this.#reporter.allCurves(this.trainer.steps);
    this.#storedModels.put(this.trainer, { key: this.key, end: this.end, curves });
  }

  dispose() {
    this.#stop();
    this.trainer.dispose();
  }
}
