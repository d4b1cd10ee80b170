// Types of sources, which are models and attention weights that can be shown. A source describes itself in `about`, on
// which the views depend.

import type { Edit } from '../../../src/js/models/edits.ts';
import type { ModelInput } from '../../../src/js/models/input.ts';
import type { TextImageModel } from '../../../src/js/models/textImage/textImageModel.ts';
import type { Transformer } from '../../../src/js/models/transformer.ts';
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
} from '../../model/protocol/protocol.ts';
import type { Hl, SourceTokenizer } from '../../model/types.ts';
import type { Read } from '../run/modelInput.ts';
import type { Values } from '../run/runModel.ts';
import type { Attentions } from './attentionWeights.ts';
import type { HeadvisSource } from './headvisSource.ts';

export type { About, HeadPlace, HeadvisSource, Hl, PatchOptions, PictureData, Piece, Roles, Run, Transformer };

export type Source = TransformerSource | WeightsSource | HeadsSource | HeadvisSource;

interface SourceBase {
  about: About;
  /** Changes whenever an input of runs changes that requests do not contain: token texts, picture, sound, weights. */
  version?: number;
  /** Texts of the tokens, by the name of a list such as 'queries'. */
  tokens?: Record<string, string[]>;
  dispose?(): void;
}

export interface TransformerSource extends SourceBase {
  model: Transformer;
  tokenizer: SourceTokenizer;
  /** Opens the same files with float32 weights. Present if the weights of `model` have fewer bits. */
  openExact?: (signal: AbortSignal, onProgress: OnProgress) => Promise<Transformer>;
  /** True if each logit is a sum of contributions that can be computed without unpacking a large model. */
  exact: boolean;
  /** The attention of the source's model; 'decoder' if it is missing. */
  part?: AttentionPart;
  /** Both towers of a model for texts and pictures. This source is one of the towers. */
  towers?: Towers;
  pixels?: Pixels;
  preprocessor?: Preprocessor;
  /** Present if the model reads sound. */
  sound?: SoundReader;
  /** Tokens on which the roles of heads are measured, for a model that has learned nothing about random passages. */
  exemplar?: number[];
  /** Computes a head's weight on the tokens with the answer, in a model that is trained on a task. */
  partnerOf?(weights: Float32Array, labels: number[]): number;
}

/** vectors: vectors of sentences and pictures, by a text that identifies the run. */
export interface Towers {
  pair: TextImageModel;
  text: TransformerSource;
  vision: TransformerSource;
  vectors: Map<string, Float64Array>;
}

export interface SoundReader {
  /** Reads another sound; without samples, the sound that the page makes. */
  hear(samples?: Float32Array, rate?: number): Promise<void>;
  read(run: Run, part?: string): Read;
  /** Runs the model on the sound. tokens: the number of tokens of the decoder. */
  forward(hl: Hl, input: ModelInput, edits: Edit[], place: { part: string; layer: number; tokens: number }): Values;
  /** Returns the sound, if the keys of an attention are frames of the sound. */
  shown(part: string): { sound?: ShownSound; place?: number };
}

/** Attention weights that were computed elsewhere. */
export interface WeightsSource extends SourceBase {
  attentions: Attentions[];
  /** Small pictures of the heads whose weights have been read, by a text that identifies the head. */
  pooled?: Map<string, { data: Float32Array; rows: number; columns: number }>;
}

/** Heads without a language model: see attentionOnly.ts. */
export interface HeadsSource extends SourceBase {
  /** Computes queries, keys and values. entry: the entry of a batch. */
  headInputs(hl: Hl, run: Run, entry: number): HeadInputs | Promise<HeadInputs>;
  /** Splits queries and keys into this number of heads. */
  split?(heads: number): void;
  pixels?: Pixels;
  preprocessor?: Preprocessor;
  /** Sizes of the picture and of the patches that the heads read. */
  patch?: PatchOptions;
}

export interface Numbers {
  data: Float32Array;
  shape: readonly number[];
}

export interface LayerHeads {
  q: Numbers;
  k: Numbers;
  v: Numbers;
}

export interface HeadInputs {
  /** Tokens of the queries. */
  pieces: Piece[];
  keys?: Piece[];
  cut?: boolean;
  layers: LayerHeads[];
  /** Known roles of the heads. */
  roles?: Roles;
  picture?: { image: PictureData; patch: PatchOptions };
  /** Similarity of two sentences. */
  likeness?: number | null;
}

/** A picture as the input of a model. image: the picture for display. fine: the picture in a higher resolution. */
export interface Pixels {
  data: Float32Array;
  shape: number[];
  image: PictureData;
  fine?: PictureData;
}

export interface Preprocessor {
  image_mean?: number[];
  image_std?: number[];
}

export type OnProgress = (read: number, total: number) => void;

export type FetchFile = (name: string, onProgress: OnProgress, signal?: AbortSignal) => Promise<Uint8Array>;
