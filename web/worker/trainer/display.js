// Shows a model in training on the page: runs it on the probe sequence, and sends the run and reports to the page.

import { showProbe } from './trainedRun.js';

/** @import { HeadPlace, ReportDetails } from '../../store/protocol.js' */
/** @import { Hl } from '../sources/types.js' */
/** @import { Reporter } from './reporter.js' */
/** @import { TrainingRun } from './trainingRun.js' */

/** Milliseconds between two runs that are shown. */
const SHOW_EVERY = 260;

export class Display {
  #hl;
  #reporter;
  #shownAt = 0;
  /** The head that the screen shows. @type {HeadPlace} */
  chosen = { layer: 0, head: 0 };

  /** @param {Hl} hl @param {Reporter} reporter */
  constructor(hl, reporter) {
    this.#hl = hl;
    this.#reporter = reporter;
  }

  get isDue() {
    return performance.now() - this.#shownAt > SHOW_EVERY;
  }

  /** @param {TrainingRun} run */
  #showProbe({ trainer, version }) {
    this.#shownAt = performance.now();
    return showProbe(this.#hl, trainer, version, this.chosen, this.#reporter.send);
  }

  /** Shows the model with its current weights. @param {TrainingRun} run */
  show(run) {
    const { scores } = this.#showProbe(run);
    this.#reporter.report(run.progress, { ...(run.shownStep === null && { scores }), ...run.changes() });
  }

  /**
   * Takes a snapshot, and shows it as a frame of the film.
   * @param {TrainingRun} run @param {ReportDetails} [details]
   */
  snapshot(run, details) {
    const { trainer } = run;
    const { steps } = trainer;
    trainer.takeSnapshot();
    const { weights, scores } = this.#showProbe(run);
    const frame = { step: steps, weights };
    this.#reporter.report(run.progress, {
      ...{ ...details, ...run.changes() },
      ...{ scores, frame, snapshots: trainer.snapshots },
    });
  }
}
