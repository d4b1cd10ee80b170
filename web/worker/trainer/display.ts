// Shows a model in training on the page: runs it on the probe sequence, and sends the run and reports to the page.

import type { HeadPlace, ReportDetails } from '../../model/protocol/protocol.ts';
import type { Hl } from '../sources/types.ts';
import type { Reporter } from './reporter.ts';
import { showProbe } from './trainedRun.ts';
import type { TrainingRun } from './trainingRun.ts';

/** Milliseconds between two runs that are shown. */
const SHOW_EVERY = 260;

export class Display {
  #hl: Hl;
  #reporter: Reporter;
  #shownAt = 0;
  chosen: HeadPlace = { layer: 0, head: 0 };

  constructor(hl: Hl, reporter: Reporter) {
    this.#hl = hl;
    this.#reporter = reporter;
  }

  get isDue() {
    return performance.now() - this.#shownAt > SHOW_EVERY;
  }

  #showProbe({ trainer, version }: TrainingRun) {
    this.#shownAt = performance.now();
    return showProbe(this.#hl, trainer, version, this.chosen, this.#reporter.send);
  }

  show(run: TrainingRun) {
    const { scores } = this.#showProbe(run);
    this.#reporter.report(run.progress, { ...(run.shownStep === null && { scores }), ...run.changes() });
  }

  /** Takes a snapshot, and shows it as a frame of the film. */
  snapshot(run: TrainingRun, details?: ReportDetails) {
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
