// Path patching: measures the effect that a head has through its paths to some receivers alone.

import { checkOptions, readNumber, readSignal, readWord } from '../../check/arguments.ts';
import { argumentError, HeadlightError } from '../../check/errors.ts';
import { formatShape } from '../../check/quote.ts';
import { type Model, type Numbers, readCaptured } from '../arrays.ts';
import type { Head } from '../composition.ts';
import type { AnyName, Metric, PatchEdit, PatchedResult } from './pairs.ts';
import { isBefore, type Receiver, readReceivers, readSenders } from './paths.ts';

export type PathModel = Model & {
  forward(input: any, options: { capture: AnyName[]; edit: PatchEdit[]; last: boolean }): PatchedResult;
};
export type PathOptions = {
  /** the sender, or senders that are patched together; default: every head on its own */
  from?: Head | readonly Head[] | undefined;
  to: 'logits' | Receiver | readonly Receiver[];
  /**
   * 'residual': paths along residual connections only; 'mlps' (default): also feed-forward layers, but no heads; 'all':
   * everything between
   */
  through?: 'residual' | 'mlps' | 'all' | undefined;
  /** a promise is awaited; if it rejects, so does pathPatch */
  onProgress?: ((progress: PathProgress) => unknown) | undefined;
  signal?: AbortSignal | undefined;
};
/** value: the metric of the run in which the paths from these heads are patched. */
export type PathProgress = { done: number; total: number; from: Head[]; value: number };
export type PathResult = {
  /** the metric of the clean run */
  clean: number;
  /** the metric of the corrupted run */
  corrupted: number;
  /**
   * metrics with a patched path: (L,H), NaN for heads not before every receiver; with `from`, one number of shape []
   */
  values: Numbers;
  /** (value − corrupted) / (clean − corrupted): 0 if nothing is recovered, 1 if all of it is */
  recovered: Numbers;
};

const CALLER = 'pathPatch';
/** Values that are fixed to those of the corrupted run, except those of the sender. */
const FIXED: Record<string, string[]> = {
  residual: ['heads', 'cross.heads', 'mlp'],
  mlps: ['heads', 'cross.heads'],
  all: [],
};

/**
 * Runs path patching (Wang et al. 2022, "Interpretability in the Wild"): measures the metric of the corrupted run if
 * only `to` reads the clean values of the heads `from`. Each sender takes two runs. In the first, it has its clean
 * value, and everything that is not on the paths keeps its corrupted value. In the second, the receivers have their
 * values of the first run, and everything after them is computed again; with to: 'logits' the first run is the result.
 * Each input is one sequence, and both have the same number of tokens.
 */
export async function pathPatch(
  model: PathModel,
  clean: any,
  corrupted: any,
  metric: Metric,
  options: PathOptions,
): Promise<PathResult> {
  checkOptions(CALLER, options, ['from', 'to', 'through', 'onProgress', 'signal']);
  const { onProgress } = options;
  const signal = readSignal(CALLER, options.signal);
  if (onProgress !== undefined && typeof onProgress !== 'function')
    throw argumentError(CALLER, 'onProgress', onProgress, 'a function');
  if (typeof metric !== 'function') throw argumentError(CALLER, 'metric', metric, 'a function of a result');
  const through = readWord(CALLER, 'through', options.through ?? 'mlps', Object.keys(FIXED));
  const receivers = readReceivers(options.to, model.options);
  const { layers, numHeads: heads } = model.options;
  const from = options.from === undefined ? undefined : readSenders(options.from, model.options);
  const reaches = (sender: Head) => receivers.every((receiver) => isBefore(sender, receiver, model.options));
  for (const sender of from ?? []) if (!reaches(sender)) throw notAfter(sender);
  signal?.throwIfAborted();

  const paths = new Paths(model, clean, corrupted, metric, FIXED[through], receivers);
  const senders = from ? [from] : headsOf(layers, heads).map((sender) => (reaches(sender) ? [sender] : []));
  const values = new Float32Array(senders.length).fill(Number.NaN);
  const total = senders.filter(({ length }) => length > 0).length;
  let done = 0;
  for (const [i, list] of senders.entries()) {
    if (list.length === 0) continue;
    // Yields to the event loop, so that an abort is handled and progress can be displayed.
    await new Promise((resolve) => setTimeout(resolve));
    signal?.throwIfAborted();
    const value = paths.patch(list);
    values[i] = value;
    await onProgress?.({ done: ++done, total, from: list, value });
  }
  const shape = from ? [] : [layers, heads];
  const { best, worst } = paths;
  const recovered = values.map((value) => (value - worst) / (best - worst));
  return {
    clean: best,
    corrupted: worst,
    values: { data: values, shape },
    recovered: { data: recovered, shape: [...shape] },
  };
}

const headsOf = (layers: number, heads: number): Head[] =>
  Array.from({ length: layers * heads }, (_, i) => ({ layer: Math.floor(i / heads), head: i % heads }));

const notAfter = ({ layer, head }: Head) =>
  new HeadlightError('ARGUMENT', `${CALLER}: every receiver must come after head ${head} of block ${layer}`, {
    parameter: 'to',
  });

/** Keeps the values of the clean and the corrupted run, and runs the model with patched paths. */
class Paths {
  declare best: number;
  declare worst: number;

  #model: PathModel;
  #corrupted: any;
  #metric: Metric;
  #receivers: readonly Receiver[];
  #fixed: PatchEdit[];
  /** Outputs of the heads in the clean run, by layer. */
  #clean: Numbers[];

  constructor(
    model: PathModel,
    clean: any,
    corrupted: any,
    metric: Metric,
    fixed: readonly string[],
    receivers: readonly Receiver[],
  ) {
    this.#model = model;
    this.#corrupted = corrupted;
    this.#metric = metric;
    this.#receivers = receivers;
    const { layers, mlp, cross } = model.options;
    const blocks = Array.from({ length: layers }, (_, l) => l);
    const best = this.#run(
      clean,
      [],
      blocks.map((l) => `blocks.${l}.heads`),
    );
    const names = fixed.filter((name) => (name === 'mlp' ? mlp !== 0 : name === 'heads' || cross));
    const own = ['heads', ...names.filter((name) => name !== 'heads')];
    const worst = this.#run(
      corrupted,
      [],
      blocks.flatMap((l) => own.map((name) => `blocks.${l}.${name}`)),
    );
    this.best = best.value;
    this.worst = worst.value;
    this.#clean = blocks.map((l) => best.captured[`blocks.${l}.heads`]);
    if (layers > 0) checkLengths(this.#clean[0].shape, worst.captured['blocks.0.heads'].shape);
    this.#fixed = blocks.flatMap((l) =>
      names.map((name) => ({ at: `blocks.${l}.${name}`, set: worst.captured[`blocks.${l}.${name}`] })),
    );
  }

  patch(senders: readonly Head[]) {
    const sent = senders.map(({ layer, head }) => ({ at: `blocks.${layer}.heads`, head, set: this.#clean[layer] }));
    const names = this.#receivers.map(nameOf);
    const first = this.#run(this.#corrupted, [...this.#fixed, ...sent], [...new Set(names)], names.length > 0);
    if (names.length === 0) return first.value;
    const received = this.#receivers.map((receiver, i) => ({
      at: names[i],
      ...('head' in receiver && { head: receiver.head }),
      set: first.captured[names[i]],
    }));
    return this.#run(this.#corrupted, received, []).value;
  }

  /** Returns the metric and copies of captured values. capturesOnly: the logits of one token are enough. */
  #run(input: any, edit: PatchEdit[], capture: string[], capturesOnly = false) {
    const result = this.#model.forward(input, { capture, edit, last: capturesOnly });
    try {
      const captured = Object.fromEntries(capture.map((name) => [name, copyOf(result, name)]));
      return { captured, value: capturesOnly ? Number.NaN : readMetric(this.#metric, result) };
    } finally {
      result.dispose();
    }
  }
}

/** Returns the name of the value that a receiver reads. */
const nameOf = ({ layer, input }: Receiver) => `blocks.${layer}.${input === 'mlp' ? 'norm2' : input}`;

function copyOf(result: PatchedResult, name: string): Numbers {
  const form = /\.(mlp|norm2)$/.test(name) ? 'BTC' : 'BHTD';
  const { floats, shape } = readCaptured(CALLER, result, name, form, [name]);
  return { data: floats.slice(), shape: [...shape] };
}

const readMetric = (metric: Metric, result: PatchedResult) => readNumber(CALLER, 'the value of metric', metric(result));

/** Throws unless both inputs are one sequence of the same length. The shapes are those of the heads, (B,H,T,D). */
function checkLengths(clean: readonly number[], corrupted: readonly number[]) {
  const shapes = [clean, corrupted].map(([batch, , length]) => [batch, length]);
  if (shapes.every(([batch]) => batch === 1) && clean[2] === corrupted[2]) return;
  const [first, second] = shapes.map(formatShape);
  throw new HeadlightError(
    'SHAPE',
    `${CALLER}: clean has shape ${first} and corrupted ${second}, expected one sequence each, of the same length`,
    { parameter: shapes[0][0] === 1 ? 'corrupted' : 'clean', expected: shapes[0], got: shapes[1] },
  );
}
