// Answers the requests of training. The worker trains one small transformer in short turns, so that it can read
// requests between two turns. The reports and the runs that the page shows during training are parts of the answer to
// one request, `train`. This answer ends when the next request with this verb arrives. The model in training is also a
// source, about which the page can send other requests.

import { readSafetensors } from '../../../src/js/io/formats.ts';
import type { RequestOf, State } from '../../model/protocol/protocol.ts';
import { taughtTask } from '../../model/training/lessons.ts';
import { keyOf, OWN_TEXT, settingsOf, USUAL_SPEED } from '../../model/training/settings.ts';
import type { Settings } from '../../model/types.ts';
import { transformerOf } from '../sources/sources.ts';
import type { Hl, Source, TransformerSource } from '../sources/types.ts';
import type { Reply } from '../types.ts';
import { perform } from './controls.ts';
import { Display } from './display.ts';
import { comparisonWithBase } from './headChanges.ts';
import { ownTextTask } from './ownText.ts';
import { Pace } from './pace.ts';
import { Reporter } from './reporter.ts';
import { readSavedFile, StoredModels } from './storedModels.ts';
import { createModelStore, type ModelStore, type StoredTraining } from './trainedModelDatabase.ts';
import { framesOf, trainedSource } from './trainedRun.ts';
import { Trainer } from './trainer.ts';
import { TrainingRun } from './trainingRun.ts';

export class Training {
  declare display: Display;
  declare storedModels: StoredModels;

  #hl: Hl;
  #demo: { open: () => Promise<Source>; readTokenizer: () => Promise<Uint8Array> };
  #run: TrainingRun | null = null;
  #pace = new Pace(USUAL_SPEED);
  #reporter = new Reporter();
  #endAnswer = () => {};
  /** Settled when all requests so far have been answered, one after another. */
  #queue: Promise<unknown> = Promise.resolve();

  constructor(
    hl: Hl,
    demo: { open: () => Promise<Source>; readTokenizer: () => Promise<Uint8Array> },
    modelStore: ModelStore = createModelStore(),
  ) {
    this.#hl = hl;
    this.#demo = demo;
    this.display = new Display(hl, this.#reporter);
    this.storedModels = new StoredModels(modelStore, this.#reporter.send);
  }

  get run() {
    return this.#run;
  }

  async train(request: RequestOf<'train'>, reply: Reply) {
    this.#endAnswer();
    await this.#enqueue(() => this.#begin(request, reply));
    await new Promise((resolve) => (this.#endAnswer = () => resolve(undefined)));
  }

  control(request: RequestOf<'controlTraining'>, { send }: Reply) {
    return this.#enqueue(() => perform(this, request, send));
  }

  acknowledgeReport() {
    this.#reporter.acknowledge();
  }

  /** Returns the model with the settings of a state as a source. */
  async source({ training, lesson }: Partial<State>): Promise<TransformerSource> {
    const settings = settingsOf(training as State['training'], lesson as string);
    const { trainer, version } = await this.#enqueue(() => this.#runOf(settings));
    return trainedSource(trainer, version);
  }

  #enqueue<T>(act: () => T | Promise<T>) {
    const result = this.#queue.then(act);
    this.#queue = result.catch(() => {});
    return result;
  }

  async #begin({ state, speed, paced, bytes, fresh = false, start = false }: RequestOf<'train'>, { send }: Reply) {
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

  /** `fresh`: true to continue neither this model nor a stored one. */
  async #runOf(settings: Settings, fresh = false) {
    const key = keyOf(settings);
    if (this.#run && this.#run.key === key && !fresh) return this.#run;
    const stored = fresh ? undefined : await this.storedModels.get(key);
    // A stored model whose file is damaged, or does not fit the settings, is trained from the beginning.
    return stored
      ? this.#replaceRun(settings, stored).catch(() => this.#replaceRun(settings))
      : this.#replaceRun(settings);
  }

  async #ownTextTask(text: string) {
    const { model, tokenizer } = transformerOf(await this.#demo.open());
    return ownTextTask(text, { model, tokenizer, readTokenizer: this.#demo.readTokenizer });
  }

  async #replaceRun(settings: Settings, stored?: StoredTraining) {
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
