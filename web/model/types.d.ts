// The shapes of what the model, the worker and the views hand each other.

import type { MultiHeadOptions } from '../../src/js/ops/multihead.js';

export type Hl = Awaited<ReturnType<typeof import('../../src/js/load/browser.js').load>>;

export interface Tensor {
  data: Float32Array;
  shape: number[];
}

/** Numbers that are given, or random ones from a seed. */
export type Input = (Tensor & { random?: undefined }) | { random: number[]; seed: number };

export interface Cell {
  query: number;
  key: number;
}

export type Task = 'repeat' | 'previous' | 'copy' | 'reverse' | 'sort' | 'brackets' | 'recall' | 'text';
export type ScaleKind = 'linear' | 'sqrt' | 'log' | 'row';
export type Theme = 'light' | 'dark';
export type LineRule = { kind: 'mass'; share: number } | { kind: 'top'; count: number };

export interface State {
  page: 'explore' | 'train';
  task: Task;
  example: string;
  text: string;
  heads: number;
  head: number;
  mask: 'none' | 'causal' | 'padding' | 'window';
  keys: number;
  temperature: number;
  seed: number;
  batch: number;
  tokens: number;
  window: number;
  scaled: boolean;
  softcap: number;
  painted: number[];
  off: number[];
  scale: ScaleKind;
  view: 'cells' | 'lines' | 'grid';
  lines: 'most' | 'half' | 'three' | 'one';
  cell: Cell | null;
  locked: boolean;
  also: number[];
  file: number;
  region: number[];
}

/** Part of the queries or keys: from the first to the one after the last. */
export interface Span {
  from: number;
  to: number;
}

export interface Region {
  queries: Span;
  keys: Span;
}

/** The weights (T,S) of one head; 0 in `visible` is hidden by a mask, null hides nothing. */
export interface Head {
  weights: Float32Array;
  visible: Float32Array | null;
  T: number;
  S: number;
  signed?: boolean;
}

/** A matrix as cells, one value each. */
export interface Picture {
  rows: number;
  columns: number;
  values: Float32Array;
}

export interface Link extends Cell {
  weight: number;
}

export type Rgb = number[];

export interface Scale {
  key: string;
  domain: [number, number];
  perRow: boolean;
  pixels: Uint32Array;
  notFinite: { colour: Rgb; pixel: number };
  index(value: number): number;
  colour(value: number): Rgb;
  valueAt(share: number): number;
  ticks: { share: number; value: number }[];
}

/** The picture that patches are cut from; without pixels only where they lie. */
export interface Patches {
  rows: number;
  columns: number;
  skip?: number;
  width?: number;
  height?: number;
  pixels?: Uint8ClampedArray<ArrayBuffer>;
}

/** Options of attention, as far as the page uses them. */
export interface Options {
  scale: number;
  softcap?: number;
  causal?: boolean;
  window?: [number, number];
  mask?: { data: Uint8Array; shape: number[] };
  validLens?: number[];
  keyPadding?: number[][];
}

/** What the core is asked to compute. */
export interface Problem {
  /** Left out where the problem is the trained transformer's. */
  query?: Input;
  key?: Input;
  value?: Input;
  layer?: MultiHeadOptions;
  weights?: Record<string, Float32Array | Tensor>;
  /** Labels for the trained transformer, in the place of query, key and value. */
  learned?: Int32Array;
  heads?: number;
  options?: Partial<Options>;
  queries: string[];
  keys: string[];
  batch: number;
  self?: boolean;
  image?: Patches;
}

/** Tensors of a visitor's own. */
export interface Given {
  id?: number;
  query: Tensor;
  key?: Tensor;
  value?: Tensor;
  weights?: Record<string, Tensor>;
  queries?: string[];
  keys?: string[];
}

export interface Example {
  heads(state: State): number[];
  problem(state: State, given?: Given): Problem | null;
  named?: boolean;
  text?: boolean;
  learned?: boolean;
  seeded?: boolean;
  file?: boolean;
  tokens?: number[];
}

/** What the page is told of a problem that is solved. */
export interface Posed {
  queries: string[];
  keys: string[];
  self: boolean;
  shape: number[];
  image?: Patches;
}

/** Everything about the whole batch, for files. */
export interface Whole {
  queries: string[];
  keys: string[];
  shape: number[];
  weights: Float32Array;
  scores: Float32Array;
  visible: Float32Array | null;
  q: Tensor;
  k: Tensor;
  v: Tensor;
}

/** One cell followed back through the algorithm, and on to the output. */
export interface Explained {
  q: Float32Array;
  k: Float32Array;
  v: Float32Array;
  products: number[];
  raw: number;
  factor: number;
  scaled: number;
  capped: number;
  masked: number;
  hidden: boolean;
  most: number;
  exponent: number;
  sum: number;
  weight: number;
  weights: Float32Array;
  rank: number;
  seen: number;
  total: number;
  contribution: number[];
  heads: Float32Array;
  concat: Float32Array;
  part: number[];
  output: Float32Array;
  projected: boolean;
}

export type Statistics = Record<string, number | null>;

export interface Info {
  simd: string;
  version: string;
  threads: number;
}

/** The parts of an answer of the worker, as far as they were wanted. */
export interface Shown {
  problem?: Posed;
  facts?: { info: Info; differs: boolean };
  heads?: { rows: number; columns: number; values: Float32Array[]; most: number; milliseconds: number };
  picture?: Picture & { region: Region; head: number };
  cell?: Explained | null;
  lines?: Link[];
  table?: Picture & { region: Region };
  statistics?: Statistics[];
  pinned?: { problem: Posed; picture: Picture & { region: Region; head: number }; most: number };
}

/** What of a state the page shows. */
export interface Wanted {
  large: { rows: number; columns: number };
  small: number;
  compare: Compare;
  table: boolean;
  statistics: boolean;
}

export type Compare = 'none' | 'side' | 'difference';
export type Failure = { message: string; cancelled?: false } | { cancelled: true };
export type FileProblem = { code: string; values: (string | number)[] } | { code?: undefined; message: string };

export interface Session {
  state: State;
  language: 'en' | 'zh';
  shown: Shown;
  answered: boolean;
  error: Failure | null;
  fileProblem: FileProblem | null;
  reading: boolean;
  ownHeads: boolean;
  pinned: State | null;
  compare: Compare;
  painting: boolean;
  large: { rows: number; columns: number };
}

// ---- training ----

export type Random = () => number;

export interface Sequence {
  tokens: number[];
  targets: number[];
}

export interface TaskKind {
  tokens: string[];
  context: number;
  sequence(random: Random): Sequence;
  /** Sequences that are never learned from, where those of `sequence` could be. */
  heldOut?(random: Random): Sequence;
  /** Whether a sequence is a good one to be shown. */
  suits?(labels: number[]): boolean;
  model: { layers: number; dModel: number; numHeads: number; mlp: number };
  training: { rate: number; batch: number; steps: number; weightDecay?: number };
  goal: number | null;
}

export interface Settings {
  task: Task;
  text: string;
  layers: number;
  heads: number;
  width: number;
  mlp: boolean;
  rate: number;
  optimizer: 'adamW' | 'adam' | 'sgd';
  dropout: number;
  seed: number;
}

export interface Labels {
  data: Int32Array;
  shape: number[];
}

export interface HeadScores {
  previous: number;
  induction: number;
}

/** What the heads do on one sequence, layer after layer, and what the model writes. */
export interface Seen {
  weights: Float32Array[];
  scores: HeadScores[][];
  examples: { labels: number[]; targets: number[]; written: number[] }[];
}

export interface Begun {
  probe: { labels: number[]; targets: number[] };
  tokens: string[];
  settings: Settings;
  info: { simd: string; threads: number };
}

/** [step, loss, accuracy], and now and then the same on validation sequences. */
export type Point = [number, number, number, number?, number?];

/** What the worker says of training. */
export interface Report {
  steps: number;
  playing: boolean;
  points: Point[];
  perSecond?: number;
  seen?: Seen;
  snapshots?: number[];
  /** Which snapshot is shown; the newest state where it is left out. */
  at?: number;
  broken?: boolean;
  started?: Omit<Begun, 'info'>;
  info?: Begun['info'];
}

export type Message =
  | ({ order: number } & Report)
  | { order?: number; error: string; verb?: string }
  | { order: number; saved: Uint8Array }
  | { order: number; layer: { bytes: Uint8Array; heads: number } };

export interface Curves {
  loss: [number, number][];
  accuracy: [number, number][];
  validLoss: [number, number][];
  validAccuracy: [number, number][];
  scores: { step: number; scores: HeadScores[][] }[];
}

export interface Training {
  settings: Settings;
  begun: Begun | null;
  report: (Report & { cells?: Picture[][] }) | null;
  curves: Curves;
  head: { layer: number; head: number };
  cell: Cell | null;
  playing: boolean;
  message: 'broken' | 'badModel' | 'shortText' | { failed: string } | null;
  asked: number;
  answered: number;
}

// ---- texts ----

type Texts<Names extends string> = Record<Names, string>;

export interface Strings {
  examples: Record<string, string>;
  about: Record<string, string>;
  heads: { words: string[]; patches: string[] };
  headAbout: { words: string[]; patches: string[] };
  head(index: number): string;
  masks: Texts<State['mask']>;
  views: Texts<State['view'] | 'side' | 'difference'>;
  lineRules: Texts<State['lines']>;
  scales: Texts<ScaleKind>;
  batch(index: number, count: number): string;
  keys(visible: number, count: number): string;
  reading: {
    none: string;
    arrow: string;
    hidden: string;
    sentence(query: string, key: string, weight: string, rank: number, count: number): string;
    hiddenSentence(query: string, key: string): string;
    blind: string;
    notFinite: string;
    notFiniteSentence(query: string, key: string): string;
    more(score: string, rank: number, count: number, sum: string): string;
  };
  facts(info: Info, milliseconds: number, T: number, S: number, heads: number): string;
  loading: string;
  computing: string;
  computed(done: number, of: number): string;
  read(done: number, of: number): string;
  cancelled: string;
  failed(message: string): string;
  empty: string;
  noFile: string;
  fileProblems: Record<string, (...values: (string | number)[]) => string>;
  tooLong(limit: number): string;
  cap(value: number): string;
  window(keys: number): string;
  off(isOff: boolean): string;
  headOff: string;
  unlock: string;
  settings(state: State): string;
  zoomed(firstQuery: number, lastQuery: number, firstKey: number, lastKey: number): string;
  pinned(what: string): string;
  pinnedMisfit: string;
  difference(head: string): string;
  copied: Texts<'link' | 'code'>;
  cannotCopy: string;
  statistics: Record<string, { name: string; formula: string }>;
  statisticsHead: string;
  meanOfHeads: string;
  undefinedStatistic: string;
  pipeline: {
    steps: Record<
      'dot' | 'scale' | 'softmax' | 'values' | 'join',
      (query: string, key: string, explained: Explained) => [title: string, text: string]
    >;
    vector(letter: string, token: string): string;
    products: string;
    row(query: string): string;
    contribution(weight: string): string;
    headOutput: string;
    concat: string;
    output(token: string): string;
    sums: {
      scale(explained: Explained, format: (x: number) => string): string[];
      weight(sum: string): string;
      blind: string;
      values(key: string, weight: string): string;
      join(explained: Explained): string;
    };
  };
  trainSample: string;
  train: {
    tasks: Texts<Task>;
    about: Texts<Task>;
    play: string;
    pause: string;
    speeds: Texts<'slow' | 'medium' | 'fast'>;
    optimizers: Texts<Settings['optimizer']>;
    head(layer: number, head: number): string;
    kinds: Texts<'previous' | 'induction'>;
    scores(previous: string, induction: string): string;
    scoreCurve: string;
    step(step: number): string;
    status(
      steps: number,
      loss: number | undefined,
      accuracy: number | undefined,
      perSecond: number | undefined,
      info: { threads: number },
    ): string;
    lookedBack(step: number): string;
    messages: Record<'broken' | 'badModel' | 'shortText', (least: number) => string>;
    pointAt: string;
  };
  ui: Record<string, string>;
  table(head: string): string;
  tablePart(rows: number, columns: number): string;
  picture(head: string, T: number, S: number): string;
}
