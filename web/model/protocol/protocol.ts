// The messages between the page and its worker. The page sends requests, { id, verb, …fields }. The worker answers each
// with parts, { id, verb, part, …fields }, and ends the answer with { id, verb, done } or { id, verb, error }.
// A new verb adds its fields to Requests, and each new part its fields to Parts.

import type { Step } from '../score.ts';
import type { Run, State } from '../state.ts';
import type { Piece } from '../tokens.ts';
import type { Pair } from '../trace/tasks.ts';
import type { Settings } from '../types.ts';
import type { AtlasParts, AtlasRequests } from './atlasProtocol.ts';
import type { CircuitPart, CircuitRequests } from './circuitProtocol.ts';
import type { HubAnswer, WeightsForm } from './hubProtocol.ts';
import type { ProgramInput } from './programInput.ts';
import type { About, AttentionPart, Summary } from './sourceProtocol.ts';
import type { SurpriseParts, SurpriseRequests } from './surpriseProtocol.ts';
import type { TraceCells, TraceControl, TraceRuns, TraceTasks } from './traceProtocol.ts';
import type { StoredModel, TrainingReport } from './trainingProtocol.ts';

export type * from './sourceProtocol.ts';
export type * from './trainingProtocol.ts';
export type { Piece, ProgramInput, Run, Settings, State, Step };

export interface UserFile {
  path: string;
  file: Blob;
}

// Requests

export type Verb = keyof Requests;
export type RequestOf<V extends Verb> = { id: number; verb: V } & Requests[V];
export type UnnumberedRequest = { [V in Verb]: { verb: V } & Requests[V] }[Verb];
export type Request = { id: number } & UnnumberedRequest;

/** Ends the answer to the newest request with the verb `of`. */
export interface CancelRequest {
  id: number;
  verb: 'cancel';
  of: Verb;
}

/** Asks the worker to hold a lock as long as it runs: see crashDetection.ts. */
export interface HoldLockRequest {
  verb: 'alive';
  lock: string;
}

export type MessageToWorker = Request | CancelRequest | HoldLockRequest;

/** The fields of each request, by verb. */
export interface Requests extends AtlasRequests, CircuitRequests, SurpriseRequests {
  /** Computes everything that the screen shows of a state. */
  show: { state: State };
  /** Measures the probability of the chosen token with each head switched off in turn. */
  ablate: { state: State };
  /** Compares the attention of a quantized model with the attention of the same model with float32 weights. */
  rounding: { state: State };
  /** Computes the composition of the chosen head with the heads of all other layers. */
  composition: { state: State };
  /** Computes the probability of each token of the text after the tokens before it. */
  tokenProbabilities: { state: State };
  /** Lists the ready-made pairs of sentences that fit a model. */
  traceTasks: { state: State };
  /** Measures how much of the answer each place of the model restores. pairs: the sentences for a mean over pairs. */
  trace: { state: State; pairs: Pair[] };
  /** Sets the place that the running trace measures next, or pauses the trace. */
  traceControl: TraceControl;
  /** Finds the chat messages in the text. If `messages` is present, makes a text of these messages instead. */
  chat: { state: State; messages?: ChatMessage[] };
  generate: { state: State; max: number };
  /** Opens a user's files as a source. transposed: the last two axes of attention weights are swapped. */
  open: { name: string; title: string; files: UserFile[]; transposed?: boolean };
  /** Opens the input of the program that embeds the page. */
  openInput: { name: string; input: ProgramInput };
  close: { name: string };
  /** Describes a model of the Hub before its weights are downloaded. address: a name or a link, as it was typed. */
  hubDescribe: { address: string; token: string };
  /** Downloads the model of the Hub with this name of state.model, and opens it as a source. */
  hubOpen: { name: string; weights: WeightsForm; token: string };
  /** Lists the models of the Hub that this browser stores; the model `remove` is deleted before. */
  hubStored: { remove?: string };
  /** Sets the number of heads into which the page splits the queries and keys of a file. */
  split: { name: string; heads: number };
  /** Sets the texts of the tokens of attention weights. */
  nameTokens: { name: string; tokens: Record<string, string[]> };
  /** Sets the picture that a model of patches reads; without a file, the picture that the page draws. */
  picture: { name: string; file?: Blob & { name?: string } };
  sound: { name: string; samples?: Float32Array; rate?: number };
  /**
   * Trains a model and reports until the next such request. fresh: begins again even if a model is stored; start: at
   * once; bytes: a saved model to continue; paced: the page acknowledges each report.
   */
  train: {
    state: State;
    speed: number | null;
    fresh?: boolean;
    start?: boolean;
    bytes?: Uint8Array;
    paced?: boolean;
  };
  /** Plays, pauses, steps, saves or otherwise controls the training that runs. */
  controlTraining: TrainingControl;
  /** Tells the worker that the page has processed one report of a paced training. */
  acknowledgeReport: Empty;
}

export type Empty = Record<never, never>;

/** speed is in steps a second, null without a limit. */
export type TrainingControl =
  | { action: 'play' | 'pause' | 'step' | 'save' | 'folder' | 'onnx' }
  | { action: 'back'; step: number }
  | { action: 'look'; layer: number; head: number }
  | { action: 'rate'; rate: number }
  | { action: 'speed'; speed: number | null }
  | { action: 'remove'; key: string };

// Answers

export type PartName = keyof Parts;
export type PartMessage = { [P in PartName]: { id: number; verb: Verb; part: P } & Parts[P] }[PartName];
/** A part as client.ts delivers it. of: the model of the request. */
export type ReceivedPart = PartMessage & { of: string | undefined };
/** A listener for each kind of part. */
export type PartListeners = { [P in PartName]: (part: Extract<ReceivedPart, { part: P }>) => void };

/** dropped: true if the request was not answered, because a newer request arrived or it was cancelled. */
export interface DoneMessage {
  id: number;
  verb: Verb;
  part?: undefined;
  error?: undefined;
  done: true;
  dropped?: boolean;
}

/** code: identifies the page's text for this problem. values: the values that are inserted into the text. */
export interface ErrorMessage {
  id: number;
  verb: Verb;
  part?: undefined;
  error: string;
  code?: string;
  values?: ProblemValue[];
}

export type ProblemValue = string | number;
export type AnswerMessage = PartMessage | DoneMessage | ErrorMessage;
export type MessageFromWorker = AnswerMessage | { verb: 'alive' };

/** The fields of each part of an answer. */
export interface Parts extends AtlasParts, SurpriseParts {
  progress: Progress;
  source: { about: About };
  /** Blocks of the model that have been computed for the answer to `show`, once this takes a moment. */
  computing: Computing;
  run: ShownRun;
  comparison: Comparison;
  chat: ChatPart;
  similarity: { similarity: Similarity | null };
  rounding: { rounding: Rounding };
  ranking: Ranking;
  turned: Turned;
  pinnedHead: PinnedHead;
  /** Roles of the heads by layer; null if they are unknown. */
  roles: NamedRoles | { roles: null; weights: null };
  pooled: PooledHead;
  /** Bytes of the user's files that have been read. */
  opening: Progress;
  opened: { about: About; summary: Summary };
  inputOpened: { about: About; summary: Summary | null };
  hub: HubAnswer;
  /** The tokens, heads, picture or sound of a source have changed, so the page must request what it shows again. */
  changed: Empty;
  tokenProbabilities: TokenProbabilities;
  traceTasks: TraceTasks;
  traceRuns: TraceRuns;
  traceCells: TraceCells;
  circuit: CircuitPart;
  composition: { layer: number; head: number; compositions: HeadComposition[] };
  ablation: Ablation;
  /** The whole text that has been generated. isAnswer: it is the text of the decoder in an encoder–decoder. */
  generated: { text: string; isAnswer: boolean };
  trainingReport: TrainingReport;
  /** The trained models in this browser's storage. problem: why the newest model could not be stored. */
  storedModels: { list?: StoredModel[]; problem?: string };
  /** A model as a file. extension: the extension of the file's name; default 'safetensors'. */
  savedFile: { bytes: Uint8Array; settings: Settings; extension?: string };
}

export interface Progress {
  read: number;
  total: number;
}

export interface Computing {
  done: number;
  total: number;
  tokens: number;
}

/**
 * A model in few bits against float32, over the text's first tokens. same: share of rows with the same strongest key;
 * largest: largest change of a weight
 */
export type Rounding =
  | ({ is: 'reading' } & Progress)
  | { is: 'measured'; tokens: number; same: number; largest: number }
  | { is: 'tooLarge' }
  | { is: 'failed'; message: string };

// The run

export interface PictureData {
  data: Uint8ClampedArray<ArrayBuffer>;
  width: number;
  height: number;
}

export interface PatchOptions {
  image: readonly [number, number];
  size: number;
  channels: number;
}

/** Roles of heads by layer and head. */
export type Roles = (string | null)[][];
/** Mean weights of heads on the keys that the rules of their roles predict, by layer and head. */
export type RoleWeights = (number | null)[][];
/** weights: null if the roles were not measured. */
export interface NamedRoles {
  roles: Roles;
  weights: RoleWeights | null;
}
/** Scores of one head by their names. */
export type HeadScores = Record<string, number>;

/**
 * The sound whose frames are keys. step, seconds: of a frame and of the sound; cut: it was truncated; unseen: seconds
 * of silence after it that the model reads
 */
export interface ShownSound {
  spectrogram: Spectrogram;
  step: number;
  seconds: number;
  cut: boolean;
  unseen: number;
}

/** A spectrogram (bins,columns). The first bin has the lowest pitch. */
export interface Spectrogram {
  data: Uint8ClampedArray;
  bins: number;
  columns: number;
}

/** The likeliest labels of every frame. blank: the label for no letter. text: the spelled text; null for classes. */
export interface ShownLetters {
  top: Prediction[][];
  blank: number | null;
  text: string | null;
}

export interface ShownRun {
  sound?: ShownSound;
  letters?: ShownLetters | null;
  image?: PictureData;
  patch?: PatchOptions;
  pieces: Piece[];
  /** Tokens of the keys, if they differ from those of the queries. */
  keys?: Piece[];
  /** True if there were more tokens than the source accepts. */
  cut: boolean;
  /** Index of the token whose logits are the prediction, or of the query shown first; null for the last token. */
  place?: number | null;
  /** The partner of each token in the pinned run, −1 for none; missing if nothing is patched. */
  partners?: number[];
  T: number;
  /** T if it is missing. */
  S?: number;
  layer: number;
  head: number;
  /** True if `weights` contains only the chosen head, because the weights of all heads are too many. */
  large?: boolean;
  /** True if the rows and columns of the run are whole words: see joinWords.ts. */
  joined?: boolean;
  named?: boolean;
  /** The similarity of the two sentences that the model compares. */
  likeness?: number | null;
  /** (L,H,T,S) */
  weights: Float32Array;
  values?: HeadValues;
  chosen?: Label;
  top?: Prediction[];
  lens?: number[] | null;
  early?: LensPrediction[] | null;
  added?: Contributions | null;
  scores?: HeadScores[][] | null;
  /** Small pictures of all heads of a large run; without them, they follow as parts `pooled`. */
  pictures?: PooledHead[];
  /** Roles of the heads; missing if the part `roles` follows. */
  roles?: NamedRoles | { roles: null; weights: null };
  /** The predictions of a model in training, next to the correct tokens. */
  guesses?: { text: string; wanted: number; right: boolean }[];
}

/** A token or class. id: −1 or null if there is none. */
export interface Label {
  id: number | null;
  text: string;
}

/** rank: 1 for the likeliest label; unset where only the likeliest labels are listed. */
export interface Prediction extends Label {
  id: number;
  now: number;
  rank?: number;
}

/** The likeliest label if the model ended after this layer. */
export interface LensPrediction extends Label {
  probability: number;
}

/** The numbers inside one head: queries (T,D), keys and values (S,D), and scores (T,S). See headValues.ts. */
export interface HeadValues {
  layer?: number;
  head?: number;
  width: number;
  valueWidth?: number;
  query: Float32Array;
  key: Float32Array;
  value: Float32Array;
  scores: Float32Array;
  steps: Step[];
  sink: number | null;
  /** For each query the sum of exp(score) over keys that are not shown, and the sum of their weights. */
  rest?: Float32Array;
  unseen?: Float32Array;
  mixture: Float32Array;
  labels: Label[];
  directions: Float32Array | null;
  scale?: number;
  patched?: boolean;
  /** True if the head is off, and its output is replaced by its mean. */
  isMean?: boolean;
}

/** Direct logit attribution. */
export interface Contributions {
  label: number;
  embed: number;
  /** (L,H), of the attention that is shown */
  heads: ArrayLike<number>;
  /** (L,H), of the decoder's other attention: to its own tokens, or to the encoder. */
  others?: ArrayLike<number>;
  /** (L) */
  mlps: ArrayLike<number>;
  bias: number;
  sum: number;
}

/** The prediction of otherCase in modelEdits.ts. top: its probabilities of the labels in the shown run's `top` */
export interface Comparison {
  kind: 'pinned' | 'with' | 'before' | 'without';
  top: number[];
  likeliest: string;
}

export interface ChatMessage {
  role: string;
  content: string;
}

/** text: the messages as the template writes them. problem: why the template refuses the messages. */
export interface ChatPart {
  messages: ChatMessage[];
  text?: string;
  problem?: string;
}

/** The cosine of two sentences. other: the cosine in the other run. tokens: null without mean pooling. */
export interface Similarity {
  cosine: number;
  kind: Comparison['kind'];
  other: number | null;
  tokens: SimilarTokens | null;
}

/** The shares of both sentences' tokens in their cosine: first (T), second (S), pairs (T,S). */
export interface SimilarTokens {
  names: string[][];
  first: Float32Array;
  second: Float32Array;
  pairs: Float32Array;
}

/** How well sentences match a picture. other: the probabilities in the other run; null if they are unknown. */
export interface Ranking {
  kind: Comparison['kind'];
  image: PictureData;
  sentences: { text: string; probability?: number; cosine?: number }[];
  other: (number | null)[] | null;
}

/** Two runs of a model that predicts nothing: angles in degrees between their hidden states, mean and largest. */
export interface Turned {
  kind: Comparison['kind'];
  mean: number;
  most: { text: string; angle: number }[];
}

export interface PinnedHead {
  pieces: Piece[];
  keys: Piece[];
  T: number;
  S: number;
  layer: number;
  head: number;
  cut: boolean;
  weights?: Float32Array;
  values?: HeadValues;
  top?: Prediction[];
  chosen?: Label;
}

/** A small picture of one head of a large run. */
export interface PooledHead {
  layer: number;
  head: number;
  data: Float32Array;
  rows: number;
  columns: number;
}

/** The probability of each token after the first. now: with the changes of the state. ever: without changes. */
export interface TokenProbabilities {
  state: State;
  now: ArrayLike<number>;
  ever: ArrayLike<number>;
}

export interface HeadPlace {
  layer: number;
  head: number;
}

/** The composition of the queries, keys or values of one head with the output of another one. */
export interface HeadComposition {
  from: HeadPlace;
  to: HeadPlace;
  kind: 'q' | 'k' | 'v';
  value: number;
}

/**
 * A measure with each head off in turn. measure: a token's probability or, if nothing is predicted, the mean angle in
 * degrees by which hidden states turn. before: with all heads; total: number of heads; switchedOff: those measured so
 * far
 */
export interface Ablation {
  measure: 'probability' | 'angle';
  text: string;
  before: number;
  total: number;
  switchedOff: (HeadPlace & { part: AttentionPart; value: number })[];
}
