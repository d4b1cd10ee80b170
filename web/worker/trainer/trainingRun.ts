// Runs the training of one model, continuously or in single steps. Training can be paused to show an earlier step.

import type { HeadChanges } from '../../model/protocol/protocol.ts';
import { keyOf } from '../../model/training/settings.ts';
import type { Display } from './display.ts';
import type { comparisonWithBase } from './headChanges.ts';
import type { Pace } from './pace.ts';
import type { Reporter } from './reporter.ts';
import type { StoredModels } from './storedModels.ts';
import type { Trainer } from './trainer.ts';

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
  declare trainer: Trainer;
  declare key: string;
  /** Training pauses at this step. */
  declare end: number;
  /** The earlier step that the screen shows. */
  declare shownStep: number | null;
  declare version: number;

  #pace: Pace;
  #reporter: Reporter;
  #display: Display;
  #storedModels: StoredModels;
  #compare: (() => Omit<HeadChanges, 'step'>) | null;
  #playing = false;
  #rate: number;
  #firstLoss: number;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    trainer: Trainer,
    {
      end,
      pace,
      reporter,
      display,
      storedModels,
      compare,
    }: {
      end: number;
      pace: Pace;
      reporter: Reporter;
      display: Display;
      storedModels: StoredModels;
      compare: ReturnType<typeof comparisonWithBase>;
    },
  ) {
    this.trainer = trainer;
    this.key = keyOf(trainer.settings);
    this.end = end;
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

  /** `delay`: milliseconds. */
  #turnAfter(delay: number) {
    this.#timer = setTimeout(() => this.#turn(), delay);
  }

  /** Performs and reports one step; returns false if training has diverged. */
  #step(): boolean {
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

  /** Stops training, and shows the model with the weights of an earlier step. */
  goBack(step: number) {
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

  /** Loads the newest weights again; returns true if an earlier step was shown. */
  leaveShownStep(): boolean {
    if (this.shownStep === null) return false;
    this.trainer.resume();
    this.shownStep = null;
    return true;
  }

  setRate(rate: number) {
    this.#rate = rate;
    this.trainer.setRate(rate);
  }

  setSpeed(speed: number | null) {
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
