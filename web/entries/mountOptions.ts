// Types of the options and the result of `mount`, as callers of the package see them.

import type { TensorLike } from '../../src/js/check/tensorlike.ts';
import type { HubOptions } from '../../src/js/hub/options.ts';
export type Weights = TensorLike | readonly TensorLike[];
/** of an encoder–decoder */
export type Part = 'encoder' | 'decoder' | 'cross';
/**
 * Layers, heads and tokens are counted from 0, as everywhere in the module and on the page: `layer: 2, head: 1` is
 * titled "Layer 2, head 1".
 */
export type ViewOptions = {
  /**
   * 'whale', the small language model of the package (the default); 'hf://owner/name', a model on the Hugging Face
   * Hub; the URL of a folder in Hugging Face's layout; or the files of such a folder
   */
  model?: string | URL | Readonly<Record<string, Blob | ArrayBuffer | ArrayBufferView>> | ArrayLike<File> | undefined;
  /** for a model on the Hub: { token, endpoint, revision, file } */
  hub?: HubOptions | undefined;
  /**
   * attention weights that were computed elsewhere: (T,S), (H,T,S), (L,H,T,S), (L,B,H,T,S), or a list of layers, each
   * (T,S), (H,T,S) or (B,H,T,S). For an encoder–decoder, an object with weights by part, { encoder, decoder, cross },
   * any of which may be missing
   */
  attentions?: Weights | Readonly<Partial<Record<Part, Weights>>> | undefined;
  /** the index of the text that is shown, if attentions has several */
  batch?: number | undefined;
  /** queries (H,T,D), from which the attention weights are computed */
  q?: TensorLike | undefined;
  /** keys (H,S,D) */
  k?: TensorLike | undefined;
  /** values (H,S,D) */
  v?: TensorLike | undefined;
  /** with q, k and v: true if later keys are masked for a query; default false */
  causal?: boolean | undefined;
  /** the input of a model */
  text?: string | undefined;
  /** names of the tokens of attentions, or of q; for an encoder–decoder, those of the source and of the target */
  tokens?: readonly string[] | { source?: readonly string[]; target?: readonly string[] } | undefined;
  /** names of the keys, if they differ from the names of the queries */
  keys?: readonly string[] | undefined;
  /** the name of the model or weights */
  title?: string | undefined;
  /**
   * the whole instrument (the default); one heatmap; all heads; lines between tokens; the contributions to the next
   * token; the story in nine steps
   */
  view?: 'instrument' | 'head' | 'heads' | 'lines' | 'flow' | 'story' | undefined;
  /** the attention of an encoder–decoder that is shown; default: the first one passed */
  part?: Part | undefined;
  /** from 0 */
  layer?: number | undefined;
  /** from 0 */
  head?: number | undefined;
  /** the positions of the query and the key whose weight is explained */
  cell?: { t: number; s: number } | null | undefined;
  /** false hides the menu, the sentence and the line of changes; default true */
  controls?: boolean | undefined;
  /** default: the theme of the browser */
  theme?: 'light' | 'dark' | undefined;
  /** default: the language of the browser */
  language?: 'en' | 'zh' | undefined;
  /** the result of `address()` or the `state` of an earlier view */
  state?: string | Partial<ViewState> | undefined;
  /** called after every change */
  onState?: ((state: ViewState) => void) | undefined;
};
/** The state of a view. */
export type ViewState = {
  model: string;
  text: string;
  layer: number;
  head: number;
  cell: { t: number; s: number } | null;
  /** the next token whose probability is shown, null for the likeliest */
  token: number | null;
  view: string;
  part: Part;
  /** by place, which is 'all', a layer such as '3' or a head such as '3.1' */
  temperature: Record<string, number>;
  /** by place */
  mask: Record<string, string>;
  /** by place: 0 switches a head off */
  scale: Record<string, number>;
};
export type View = {
  state: ViewState;
  /** resolved after the first picture, rejected if there is none */
  ready: Promise<void>;
  /** changes only the options that are passed */
  update: (options: Partial<ViewOptions>) => void;
  /** the state as a text that fits into a link */
  address: () => string;
  /** ends the worker and removes the view */
  destroy: () => void;
};
