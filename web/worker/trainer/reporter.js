// Reports the progress of a training to the page, with the points of the curves since the last report.

import { extended, noCurves } from '../../features/train/curves.js';

/** @import { ReportDetails, TrainingPoint, TrainingProgress } from '../../store/protocol.js' */
/** @import { Curves } from '../../features/train/curves.js' */
/** @import { Send } from '../types.js' */

/** Milliseconds between two reports. */
const REPORT_EVERY = 90;
/** Maximum reports that the page has not acknowledged. If there are more, training waits until the page catches up. */
const MAX_UNACKNOWLEDGED = 2;
/** Milliseconds over which the speed is measured. */
const MEASURED = 2000;

export class Reporter {
  /** @type {Send} */
  #send = () => {};
  /** True if the page acknowledges reports. */
  #paced = false;
  #unacknowledged = 0;
  /** @type {TrainingPoint[]} */
  #points = [];
  #curves = noCurves();
  #reportedAt = 0;
  /** The number of steps since the time `since`, from which the speed is computed. */
  #counted = { since: 0, steps: 0 };

  /** Begins the curves of another model. @param {Curves} [curves] */
  reset(curves = noCurves()) {
    this.#points = [];
    this.#curves = curves;
  }

  /** Sends the reports as parts of the answer to another request. @param {Send} send @param {boolean} paced */
  redirect(send, paced) {
    this.#send = send;
    this.#paced = paced;
    this.#unacknowledged = 0;
  }

  /** Sends a part of the answer to the current request. Does nothing before the first request. */
  send = /** @type {Send} */ ((part, fields, transfer) => this.#send(part, fields, transfer));

  acknowledge() {
    this.#unacknowledged = Math.max(this.#unacknowledged - 1, 0);
  }

  get isWaiting() {
    return this.#paced && this.#unacknowledged > MAX_UNACKNOWLEDGED;
  }

  get isDue() {
    return this.#points.length > 0 && performance.now() - this.#reportedAt > REPORT_EVERY;
  }

  get curves() {
    return this.#curves;
  }

  /** Returns the curves including the points that have not been reported yet. @param {number} step */
  allCurves(step) {
    return extended(this.#curves, { points: this.#points, step });
  }

  /** Begins the curves with a point before the first step. @param {TrainingPoint} point */
  startWith(point) {
    this.#points = [point];
  }

  /** @param {TrainingPoint} point */
  add(point) {
    this.#points.push(point);
  }

  /** Adds the accuracy to the last point, if this point has no accuracy. @param {() => number} accuracy */
  completeLast(accuracy) {
    const last = this.#points.at(-1);
    if (last?.length === 2) last.push(accuracy());
  }

  restartCount() {
    this.#counted = { since: performance.now(), steps: 0 };
  }

  countStep() {
    this.#counted.steps++;
  }

  /** @param {Omit<TrainingProgress, 'perSecond'>} progress @param {ReportDetails} [details] */
  report(progress, details = {}) {
    const now = performance.now();
    this.#reportedAt = now;
    const { since, steps } = this.#counted;
    const perSecond = steps > 2 ? (1000 * steps) / (now - since) : null;
    if (now - since > MEASURED) this.#counted = { since: now, steps: 0 };
    const points = this.#points;
    this.#curves = extended(this.#curves, { points, step: progress.steps, scores: details.scores });
    this.#send('trainingReport', { progress: { ...progress, perSecond }, points, ...details });
    this.#points = [];
    this.#unacknowledged++;
  }
}
