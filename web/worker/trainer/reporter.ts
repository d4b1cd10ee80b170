// Reports the progress of a training to the page, with the points of the curves since the last report.

import type { ReportDetails, TrainingPoint, TrainingProgress } from '../../model/protocol/protocol.ts';
import { type Curves, extended, noCurves } from '../../model/training/curves.ts';
import type { Send } from '../types.ts';

/** Milliseconds between two reports. */
const REPORT_EVERY = 90;
/** Maximum reports that the page has not acknowledged. If there are more, training waits until the page catches up. */
const MAX_UNACKNOWLEDGED = 2;
/** Milliseconds over which the speed is measured. */
const MEASURED = 2000;

export class Reporter {
  #send: Send = () => {};
  /** True if the page acknowledges reports. */
  #paced = false;
  #unacknowledged = 0;
  #points: TrainingPoint[] = [];
  #curves = noCurves();
  #reportedAt = 0;
  /** The number of steps since the time `since`, from which the speed is computed. */
  #counted = { since: 0, steps: 0 };

  /** Begins the curves of another model. */
  reset(curves: Curves = noCurves()) {
    this.#points = [];
    this.#curves = curves;
  }

  /** Sends the reports as parts of the answer to another request. */
  redirect(send: Send, paced: boolean) {
    this.#send = send;
    this.#paced = paced;
    this.#unacknowledged = 0;
  }

  /** Sends a part of the answer to the current request. Does nothing before the first request. */
  send = ((part, fields, transfer) => this.#send(part, fields, transfer)) as Send;

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

  /** Returns the curves including the points that have not been reported yet. */
  allCurves(step: number) {
    return extended(this.#curves, { points: this.#points, step });
  }

  /** Begins the curves with a point before the first step. */
  startWith(point: TrainingPoint) {
    this.#points = [point];
  }

  add(point: TrainingPoint) {
    this.#points.push(point);
  }

  /** Adds the accuracy to the last point, if this point has no accuracy. */
  completeLast(accuracy: () => number) {
    const last = this.#points.at(-1);
    if (last?.length === 2) last.push(accuracy());
  }

  restartCount() {
    this.#counted = { since: performance.now(), steps: 0 };
  }

  countStep() {
    this.#counted.steps++;
  }

  report(progress: Omit<TrainingProgress, 'perSecond'>, details: ReportDetails = {}) {
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
