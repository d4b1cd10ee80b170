// Descriptions of a source, such as a model or attention weights, that the worker sends to the page.

import type { Settings } from '../types.ts';
import type { ProblemValue } from './protocol.ts';

/** The attentions of an encoder–decoder, `cross` from decoder to encoder, or of the towers for texts and pictures. */
export type AttentionPart = 'encoder' | 'decoder' | 'cross' | 'text' | 'vision';

/** The properties of a source that the page knows. */
export interface About {
  name: string;
  /** The name that the user reads. */
  title?: string;
  kind: 'transformer' | 'weights' | 'layer';
  family?: string;
  /** True for a HeadVis folder, which has a file for each head: see headvisSource.ts. */
  folder?: boolean;
  layers: number;
  heads: number;
  /** The number of entries of a batch, of which one is shown. */
  batch?: number;
  width: number;
  /** The largest number of tokens. */
  context: number;
  /** True if the model has feed-forward parts. */
  mlps?: boolean;
  causal: boolean;
  /** True if the model predicts a next token, a masked token or a class. */
  predicts: boolean;
  guess: 'next' | 'masked' | 'classes' | null;
  reads: 'text' | 'numbers' | 'picture' | 'sound' | 'pair' | 'nothing';
  /** True if the tokens are those of a text. */
  words?: boolean;
  /** True if the model can continue a text. */
  writes: boolean;
  /** True if the heads can be changed. */
  edits: boolean;
  /** True if each logit is a sum of contributions, which the view `flow` shows. */
  sums: boolean;
  /** How a sentence encoder pools its tokens into one vector; null for a model that compares no sentences. */
  compares?: 'mean' | 'first' | 'last' | 'max' | null;
  /** Set if the model compares sentences with a picture: 'all' for a softmax over sentences, 'each' for sigmoids. */
  matches?: 'all' | 'each';
  /** True if the files of the model have a chat template. */
  chats?: boolean;
  mask: string | null;
  /** The labels of a sound model without a decoder: a letter or a class for each frame, or a class for the sound. */
  hears?: 'letters' | 'frames' | 'sounds';
  /** The tokens with which the decoder of a model of speech begins, as a text. */
  prompt?: string;
  /** The attentions of an encoder–decoder, or the towers of a model for texts and pictures; empty for other models. */
  parts: AttentionPart[];
  /** The size of the model's files. */
  bytes: number;
  /** For handmade heads, the name of each role and a sentence about the role, by language and role. */
  terms?: Record<string, Record<string, string[]>>;
  /** Possible numbers of heads of a file with queries and keys. */
  choices?: number[];
  /** Set for a model that is trained in the page. probe: the text that is shown during training. */
  trained?: { settings: Settings; tokens: string[]; probe: string; steps: number };
}

/** A summary of files that have been opened. */
export type Summary = WeightsSummary | LayerSummary | TransformerSummary;

export interface WeightsSummary {
  kind: 'weights';
  /** The axis along which the weights sum to 1. */
  sums: string;
  parts: AttentionSizes[];
  /** True if the files contain texts for the tokens. */
  named: boolean;
  /** Names of arrays that are not shown. */
  unused: string[];
  problems: { code: string; values: ProblemValue[] }[];
}

/** wholeT and wholeS: the sizes before tokens were cut off. */
export interface AttentionSizes {
  name: string;
  layers: number;
  batch: number;
  heads: number;
  T: number;
  S: number;
  wholeT: number;
  wholeS: number;
  /** The number of NaN among the weights. */
  nan: number;
  causal: boolean;
}

export interface LayerSummary {
  kind: 'layer';
  T: number;
  S: number;
  width: number;
  /** True if queries and keys are computed from the weights of a layer. */
  projected: boolean;
  /** True if the file has an axis of heads. */
  split?: boolean;
  batch: number;
  named: boolean;
}

export interface TransformerSummary {
  kind: 'transformer';
  weights: string;
  parameters: number;
  bytes: number;
  missing: string[];
  /** Names of parameters with NaN. */
  nan: string[];
}
