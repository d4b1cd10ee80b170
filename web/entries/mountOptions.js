// Types of the options and the result of `mount`, as callers of the package see them.

/** @import { HubOptions } from '../../src/js/hub/options.js' */
/** @import { TensorLike } from '../../src/js/check/tensorlike.js' */
/** @typedef {TensorLike | readonly TensorLike[]} Weights */
/** @typedef {'encoder' | 'decoder' | 'cross'} Part of an encoder–decoder */
/**
 * Layers, heads and tokens are counted from 0, as everywhere in the module and on the page: `layer: 2, head: 1` is
 * titled "Layer 2, head 1".
 * @typedef {object} ViewOptions
 * @property {string | URL | Readonly<Record<string, Blob | ArrayBuffer | ArrayBufferView>> | ArrayLike<File>} [model]
 *   'whale', the small language model of the package (the default); 'hf://owner/name', a model on the Hugging Face
 *   Hub; the URL of a folder in Hugging Face's layout; or the files of such a folder
 * @property {HubOptions} [hub] for a model on the Hub: { token, endpoint, revision, file }
 * @property {Weights | Readonly<Partial<Record<Part, Weights>>>} [attentions] attention weights that were computed
 *   elsewhere: (T,S), (H,T,S), (L,H,T,S), (L,B,H,T,S), or a list of layers, each (T,S), (H,T,S) or (B,H,T,S). For an
 *   encoder–decoder, an object with weights by part, { encoder, decoder, cross }, any of which may be missing
 * @property {number} [batch] the index of the text that is shown, if attentions has several
 * @property {TensorLike} [q] queries (H,T,D), from which the attention weights are computed
 * @property {TensorLike} [k] keys (H,S,D)
 * @property {TensorLike} [v] values (H,S,D)
 * @property {boolean} [causal] with q, k and v: true if later keys are masked for a query; default false
 * @property {string} [text] the input of a model
 * @property {readonly string[] | { source?: readonly string[], target?: readonly string[] }} [tokens] names of the
 *   tokens of attentions, or of q; for an encoder–decoder, those of the source and of the target
 * @property {readonly string[]} [keys] names of the keys, if they differ from the names of the queries
 * @property {string} [title] the name of the model or weights
 * @property {'instrument' | 'head' | 'heads' | 'lines' | 'flow' | 'story'} [view] the whole instrument (the default);
 *   one heatmap; all heads; lines between tokens; the contributions to the next token; the story in nine steps
 * @property {Part} [part] the attention of an encoder–decoder that is shown; default: the first one passed
 * @property {number} [layer] from 0
 * @property {number} [head] from 0
 * @property {{ t: number, s: number } | null} [cell] the positions of the query and the key whose weight is explained
 * @property {boolean} [controls] false hides the menu, the sentence and the line of changes; default true
 * @property {'light' | 'dark'} [theme] default: the theme of the browser
 * @property {'en' | 'zh'} [language] default: the language of the browser
 * @property {string | Partial<ViewState>} [state] the result of `address()` or the `state` of an earlier view
 * @property {(state: ViewState) => void} [onState] called after every change
 */
/**
 * The state of a view.
 * @typedef {object} ViewState
 * @property {string} model
 * @property {string} text
 * @property {number} layer
 * @property {number} head
 * @property {{ t: number, s: number } | null} cell
 * @property {number | null} token the next token whose probability is shown, null for the likeliest
 * @property {string} view
 * @property {Part} part
 * @property {Record<string, number>} temperature by place, which is 'all', a layer such as '3' or a head such as '3.1'
 * @property {Record<string, string>} mask by place
 * @property {Record<string, number>} scale by place: 0 switches a head off
 */
/**
 * @typedef {object} View
 * @property {ViewState} state
 * @property {Promise<void>} ready resolved after the first picture, rejected if there is none
 * @property {(options: Partial<ViewOptions>) => void} update changes only the options that are passed
 * @property {() => string} address the state as a text that fits into a link
 * @property {() => void} destroy ends the worker and removes the view
 */

export {};
