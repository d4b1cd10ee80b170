// Trains a small transformer on one task. This code depends neither on the page nor on the worker.

import type { TensorLike } from '../../../src/js/check/tensorlike.ts';
import type { Transformer } from '../../../src/js/models/transformer.ts';
import { uniformSource } from '../../../src/js/ops/random.ts';
import { batchOf, TASKS, validationBatchOf } from '../../model/training/tasks.ts';
import type { Hl, Labels, Settings, TaskKind } from '../../model/types.ts';
import { type Snapshot, Snapshots, type Weights } from './snapshots.ts';
export type Model = ReturnType<Hl['transformer']>;
export type Optimizer = ReturnType<Hl['adam'] | Hl['sgd']>;
/** The results of a validation. learned: the loss on some of the sequences that the model learns from. */
export type Judged = { loss: number; accuracy: number; learned: number };
/** The state from which training continues, except the weights. */
export type Progress = {
  optimizer: ReturnType<Optimizer['stateDict']>;
  /** the number of random numbers that have been drawn for sequences */
  drawn: number;
  snapshots: Snapshot[];
};

/** The number of first steps over which the learning rate rises. */
const WARM_UP = 50;
/** Maximum norm of all gradients together. */
const MAX_GRADIENT = 1;
/** The number of sequences for validation. */
const VALIDATION = 64;

/** Functions that create the optimizers. */
const OPTIMIZERS = {
  adamW: (hl: Hl, model: Model, settings: Settings, task: TaskKind) =>
    hl.adamW([model], { lr: settings.rate, weightDecay: task.training.weightDecay ?? 0.01 }),
  adam: (hl: Hl, model: Model, settings: Settings) => hl.adam([model], { lr: settings.rate }),
  sgd: (hl: Hl, model: Model, settings: Settings) => hl.sgd([model], { lr: settings.rate, momentum: 0.9 }),
};

const createModel = (hl: Hl, settings: Settings, task: TaskKind) =>
  task.base?.create(hl) ??
  hl.transformer({
    layers: settings.layers,
    dModel: settings.width,
    numHeads: settings.heads,
    mlp: settings.mlp ? task.model.mlp || 2 * settings.width : 0,
    vocab: task.tokens.length,
    context: task.context,
    dropout: settings.dropout,
    seed: settings.seed,
  });

/** Returns the probe, which is shown during training: the first suitable validation sequence. */
function probeOf(task: TaskKind, { labels, targets }: { labels: Labels; targets: Labels }) {
  if (task.shown) return { labels: task.shown.tokens, targets: task.shown.targets };
  const T = labels.shape[1];
  const sequence = ({ data }: Labels, i: number) => Array.from(data.subarray(i * T, (i + 1) * T));
  const isSuitable = (i: number) => task.suits?.(sequence(labels, i)) ?? true;
  const shown = Math.max(Array.from({ length: labels.shape[0] }, (_, i) => i).findIndex(isSuitable), 0);
  return { labels: sequence(labels, shown), targets: sequence(targets, shown) };
}

export class Trainer {
  declare settings: Settings;
  declare task: TaskKind;
  declare model: Transformer;
  declare probe: { labels: number[]; targets: number[] };

  #hl: Hl;
  #validation: { labels: Labels; targets: Labels };
  #optimizer: Optimizer;
  #rate: number;
  #steps = 0;
  #snapshots: Snapshots;
  /** The newest weights, while the model has the weights of a snapshot. */
  #newest: Weights | null = null;
  #random: () => number;
  /** Some of the sequences that the model learns from, to measure the loss on them; null for tasks without a text. */
  #learned: { labels: Labels; targets: Labels } | null;
  #judged: Judged | null = null;
  /** The number of random numbers drawn for sequences. A stored training draws as many again before it continues. */
  #drawn = 0;

  /** `task`: by default that of the settings; `saved`: file to continue, whose number of steps determines dropout. */
  constructor(hl: Hl, settings: Settings, task: TaskKind = TASKS[settings.task], saved?: Uint8Array) {
    this.#hl = hl;
    this.settings = settings;
    this.task = task;
    this.model = saved ? hl.loadTransformer(saved) : createModel(hl, settings, task);
    this.#random = uniformSource(settings.seed);
    this.#snapshots = this.#filmOf();
    this.#validation = validationBatchOf(
      task,
      uniformSource(settings.seed + 1000),
      task.limits?.validation ?? VALIDATION,
    );
    this.#learned = task.base ? batchOf(task, uniformSource(settings.seed + 2000), task.training.batch) : null;
    this.probe = probeOf(task, this.#validation);
    this.#optimizer = this.#createOptimizer();
    this.#rate = settings.rate;
  }

  #createOptimizer() {
    return OPTIMIZERS[this.settings.optimizer](this.#hl, this.model, this.settings, this.task);
  }

  #filmOf(snapshots?: Snapshot[]) {
    const { limits } = this.task;
    return new Snapshots(snapshots, limits && 2 * limits.frames);
  }

  get steps() {
    return this.#steps;
  }

  get snapshots() {
    return this.#snapshots.steps;
  }

  get optimizer() {
    return this.#optimizer;
  }

  get drawn() {
    return this.#drawn;
  }

  #draw() {
    this.#drawn++;
    return this.#random();
  }

  setRate(rate: number) {
    this.#rate = rate;
  }

  /** Performs one training step. The loss is NaN if training has diverged. */
  step() {
    this.resume();
    if (this.#steps === 0) this.takeSnapshot();
    const { labels, targets } = batchOf(this.task, () => this.#draw(), this.task.training.batch);
    this.#optimizer.lr = this.#rate * Math.min(1, (this.#steps + 1) / WARM_UP);
    this.model.zeroGrad();
    const { loss, correct, counted } = this.model.learn(labels, targets);
    this.#hl.clipGradients([this.model], MAX_GRADIENT);
    this.#optimizer.step();
    this.#steps++;
    return { loss, accuracy: correct / counted };
  }

  /** Measures loss and accuracy on sequences that the model never learns from. */
  validate() {
    const { loss, correct, counted } = this.model.judge(this.#validation.labels, this.#validation.targets);
    this.#judged = { loss, accuracy: correct / counted, learned: this.lossOf(this.model, 'learned') };
    return { loss, accuracy: correct / counted };
  }

  /** The result of the last validation, which had the current weights or the weights of a few steps earlier. */
  get judged() {
    if (!this.#judged) this.validate();
    return this.#judged as Judged;
  }

  /** Returns a model's loss on validation or some learned sequences; the latter is NaN if sequences are generated. */
  lossOf(model: Model, which: 'heldOut' | 'learned') {
    const sequences = which === 'learned' ? this.#learned : this.#validation;
    return sequences ? model.judge(sequences.labels, sequences.targets).loss : Number.NaN;
  }

  #weights(): Weights {
    const state = Object.entries(this.model.stateDict());
    return Object.fromEntries(state.map(([name, { data, shape }]) => [name, { data, shape }]));
  }

  takeSnapshot() {
    this.#snapshots.add(this.#steps, () => this.#weights());
  }

  /** Loads the weights of a snapshot. The next step continues from the newest weights. */
  goBack(i: number) {
    this.#judged = null;
    this.#newest ??= this.#weights();
    this.model.loadStateDict(this.#snapshots.at(i).state);
  }

  /** Loads the newest weights again, after goBack. */
  resume() {
    if (!this.#newest) return;
    this.#judged = null;
    this.model.loadStateDict(this.#newest);
    this.#newest = null;
  }

  /** Restores the last snapshot with a finite loss, or else the first snapshot. Begins with a new optimizer. */
  recover() {
    this.#newest = null;
    const restore = () => this.model.loadStateDict(this.#snapshots.last.state);
    restore();
    while (this.#snapshots.steps.length > 1 && !Number.isFinite(this.validate().loss)) {
      this.#snapshots.removeLast();
      restore();
    }
    this.#steps = this.#snapshots.last.step;
    this.#optimizer.dispose();
    this.#optimizer = this.#createOptimizer();
  }

  save() {
    return this.model.save({ settings: JSON.stringify(this.settings), steps: String(this.#steps) });
  }

  progress(): Progress {
    return { optimizer: this.#optimizer.stateDict(), drawn: this.#drawn, snapshots: this.#snapshots.all };
  }

  /** `tensors`: of a saved file; `progress`: if missing, the optimizer begins with a new state. */
  load(tensors: Record<string, TensorLike>, steps: number, progress?: Progress) {
    this.#newest = null;
    this.#judged = null;
    this.model.loadStateDict(tensors);
    if (progress) this.#optimizer.loadStateDict(progress.optimizer);
    while (progress && this.#drawn < progress.drawn) this.#draw();
    this.#steps = steps;
    this.#snapshots = this.#filmOf(progress?.snapshots);
    this.takeSnapshot();
  }

  dispose() {
    this.#optimizer.dispose();
    this.model.dispose();
  }
}
