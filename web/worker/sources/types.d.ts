// The sources: models and attention weights that can be shown. Each describes itself in `about`; views depend on
// nothing else.

import type { Edit } from '../../../src/js/models/edits.js';
import type { ModelInput } from '../../../src/js/models/input.js';
import type { TextImageModel } from '../../../src/js/models/textImage/textImageModel.js';
import type { Transformer } from '../../../src/js/models/transformer.js';
import type {
  About,
  AttentionPart,
  HeadPlace,
  PatchOptions,
  PictureData,
  Piece,
  Roles,
  Run,
  ShownSound,
} from '../../store/protocol.js';
import type { Hl } from '../../store/types.js';
import type { Read } from '../run/modelInput.js';
import type { Values } from '../run/runModel.js';
import type { Attentions } from './attentionWeights.js';
import type { HeadvisSource } from './headvisSource.js';

export type { About, HeadPlace, HeadvisSource, Hl, PatchOptions, PictureData, Piece, Roles, Run, Transformer };

export type Source = TransformerSource | WeightsSource | HeadsSource | HeadvisSource;

interface SourceBase {
  about: About;
  /** Changes with all that a run depends on and the request does not contain: tokens, picture, weights in training. */
  version?: number;
  /** Texts of the tokens, by list. */
  tokens?: Record<string, string[]>;
  dispose?(): void;
}

export interface TransformerSource extends SourceBase {
  model: Transformer;
  tokenizer: SourceTokenizer;
  /** Opens the same files with float32 weights, if these are in fewer bits. */
  openExact?: (signal: AbortSignal, onProgress: OnProgress) => Promise<Transformer>;
  /** True if the logits are sums of contributions that can be computed without unpacking a large model. */
  exact: boolean;
  /** The name of its attention; 'decoder' if it is missing. */
  part?: AttentionPart;
  /** Both towers of a model for texts and pictures, of which this is one. */
  towers?: Towers;
  pixels?: Pixels;
  preprocessor?: Preprocessor;
  /** The sound of a model that reads one. */
  sound?: SoundReader;
  /** Tokens on which the heads get their roles, for a model that has not learned random passages. */
  exemplar?: number[];
  /** A head's weight on the tokens with the answer, in a model that was trained on a task. */
  partnerOf?(weights: Float32Array, labels: number[]): number;
}

/** vectors: of sentences and pictures, by run. */
export interface Towers {
  pair: TextImageModel;
  text: TransformerSource;
  vision: TransformerSource;
  vectors: Map<string, Float64Array>;
}

/** The sound that a model reads: see sound/soundReader.js. */
export interface SoundReader {
  /** Reads another sound; without samples, the one that the page makes. */
  hear(samples?: Float32Array, rate?: number): Promise<void>;
  read(run: Run, part?: string): Read;
  /** tokens: of the decoder. */
  forward(hl: Hl, input: ModelInput, edits: Edit[], place: { part: string; layer: number; tokens: number }): Values;
  /** The sound, if the keys of a part are its frames. */
  shown(part: string): { sound?: ShownSound; place?: number };
}

/** Attention weights that were computed elsewhere. */
export interface WeightsSource extends SourceBase {
  attentions: Attentions[];
  /** Small pictures of heads that have been read. */
  pooled?: Map<string, { data: Float32Array; rows: number; columns: number }>;
}

/** Heads without a language model: see attentionOnly.js. */
export interface HeadsSource extends SourceBase {
  /** Queries, keys and values. entry: of a batch. */
  headInputs(hl: Hl, run: Run, entry: number): HeadInputs | Promise<HeadInputs>;
  /** Splits queries and keys into this number of heads. */
  split?(heads: number): void;
  pixels?: Pixels;
  preprocessor?: Preprocessor;
  /** Sizes of the picture that it reads. */
  patch?: PatchOptions;
}

/** The tokenizer of a model, or an object that takes its place. */
export interface SourceTokenizer {
  encode(text: string): {
    ids: number[];
    offsets: [number, number][];
    tokens?: string[];
    typeIds?: number[];
  };
  decode(ids: number[], options?: { skipSpecial?: boolean }): string;
  idOf(token: string): number | undefined;
  tokenOf(id: number): string | undefined;
}

export interface Numbers {
  data: Float32Array;
  shape: readonly number[];
}

/** Queries, keys and values of one layer, each (H,N,D). */
export interface LayerHeads {
  q: Numbers;
  k: Numbers;
  v: Numbers;
}

export interface HeadInputs {
  /** Tokens of the queries. */
  pieces: Piece[];
  /** Tokens of the keys, if they differ. */
  keys?: Piece[];
  /** True if tokens were cut off. */
  cut?: boolean;
  layers: LayerHeads[];
  /** Known roles of the heads. */
  roles?: Roles;
  picture?: { image: PictureData; patch: PatchOptions };
  /** Similarity of two sentences. */
  likeness?: number | null;
}

/** A picture as input of the model; image: the same for display; fine: the same at a higher resolution. */
export interface Pixels {
  data: Float32Array;
  shape: number[];
  image: PictureData;
  fine?: PictureData;
}

/** preprocessor_config.json */
export interface Preprocessor {
  image_mean?: number[];
  image_std?: number[];
}

export type OnProgress = (read: number, total: number) => void;

/** Reads a file that is next to the script. */
export type FetchFile = (name: string, onProgress: OnProgress, signal?: AbortSignal) => Promise<Uint8Array>;
