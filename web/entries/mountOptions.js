// The instrument, or one of its parts, in an element of a page: what callers say is checked and brought into the form
// of the page's own.

import { effect, signal } from '@preact/signals';
import { checkOptions, readBoolean, readNumber, readWord } from '../../src/js/check/arguments.js';
import { argumentError, HeadlightError } from '../../src/js/check/errors.js';
import { MAX_TEXT, PROGRAM_MODEL, readAddress } from '../store/state.js';
import { routed } from '../worker/router.js';
import {
  isByPart,
  lengthsOf,
  PARTS,
  readModel,
  readParts,
  readQkv,
  readTexts,
  readWeights,
} from '../worker/sources/programInput.js';
import style from './embedded.css';
import { embedded } from './embedded.jsx';
import { mount as mountPage } from './mount.jsx';

/** @import { TensorLike } from '../../src/js/check/tensorlike.js' */
/** @typedef {TensorLike | readonly TensorLike[]} Weights */
/** @typedef {'encoder' | 'decoder' | 'cross'} Part of an encoder–decoder */
/**
 * What is shown. Layers, heads and tokens are counted from 0, as everywhere in the module and in what the page says:
 * `layer: 2, head: 1` is titled "Layer 2, head 1".
 * @typedef {object} ViewOptions
 * @property {string | URL | Readonly<Record<string, Blob | ArrayBuffer | ArrayBufferView>> | ArrayLike<File>} [model]
 *   'whale', the small language model of the package (the default); the URL of a folder in Hugging Face's layout; or
 *   the files of one
 * @property {Weights | Readonly<Partial<Record<Part, Weights>>>} [attentions] attention weights that were computed
 *   elsewhere: (T,S), (H,T,S), (L,H,T,S), (L,B,H,T,S), or a list of layers, each (T,S), (H,T,S) or (B,H,T,S); those
 *   of an encoder–decoder by part: { encoder, decoder, cross }, of which some may be missing
 * @property {number} [batch] which text, where attentions hold several
 * @property {TensorLike} [q] queries (H,T,D): weights are computed from them
 * @property {TensorLike} [k] keys (H,S,D)
 * @property {TensorLike} [v] values (H,S,D)
 * @property {boolean} [causal] with q, k and v: a token does not look ahead; default false
 * @property {string} [text] what a model reads
 * @property {readonly string[] | { source?: readonly string[], target?: readonly string[] }} [tokens] names of the
 *   tokens of attentions, or of q; of an encoder–decoder what is read and what is written
 * @property {readonly string[]} [keys] names of the tokens that are looked at, where they are others
 * @property {string} [title] what is shown is called
 * @property {'instrument' | 'head' | 'heads' | 'lines' | 'flow' | 'story'} [view] all of it (the default); one heatmap;
 *   all heads; lines between tokens; what adds to the next token; the story in nine steps
 * @property {Part} [part] which attention of an encoder–decoder is shown; the first that is given
 * @property {number} [layer] from 0
 * @property {number} [head] from 0
 * @property {{ t: number, s: number } | null} [cell] the weight that is read: the token that asks, and the one that it
 *   looks at
 * @property {boolean} [controls] false hides the menu, the sentence and the line of changes; default true
 * @property {'light' | 'dark'} [theme] default: the browser's
 * @property {'en' | 'zh'} [language] default: the browser's
 * @property {string | Partial<ViewState>} [state] what a view has been: `address()` or `state` of another
 * @property {(state: ViewState) => void} [onState] is told of every change
 */
/**
 * What is shown now.
 * @typedef {object} ViewState
 * @property {string} model
 * @property {string} text
 * @property {number} layer
 * @property {number} head
 * @property {{ t: number, s: number } | null} cell
 * @property {number | null} token the guess that is followed, null for the likeliest
 * @property {string} view
 * @property {Part} part
 * @property {Record<string, number>} temperature by place: 'all', a layer '3', a head '3.1'
 * @property {Record<string, string>} mask by place
 * @property {Record<string, number>} scale by place: 0 is a head that is off
 */
/**
 * @typedef {object} View
 * @property {ViewState} state
 * @property {Promise<void>} ready the first picture is there; rejected where there is none
 * @property {(options: Partial<ViewOptions>) => void} update changes what is given, and nothing else
 * @property {() => string} address the state as a text that fits into a link
 * @property {() => void} destroy ends the worker and takes everything away
 */

const VIEWS = /** @type {const} */ (['instrument', 'head', 'heads', 'lines', 'flow', 'story']);
const DATA = ['model', 'attentions', 'batch', 'q', 'k', 'v', 'causal', 'tokens', 'keys', 'title'];
const SHOWN = ['text', 'part', 'layer', 'head', 'cell', 'view', 'controls', 'theme', 'language'];
const OPTIONS = [...DATA, ...SHOWN, 'state', 'onState'];

/**
 * What was handed over; null for the whale. A model that is not whole says what is missing.
 * @param {string} caller
 * @param {ViewOptions} options
 * @returns {import('../worker/sources/programInput.js').Given | null}
 */
function givenIn(caller, options) {
  const { model, attentions, q, k, v, causal, batch, title } = options;
  const sources = Object.entries({ model, attentions, q }).filter(([, value]) => value !== undefined);
  if (sources.length > 1) throw argumentError(caller, sources[1][0], sources[1][1], `nothing beside ${sources[0][0]}`);
  const own = sources.length === 1 && model !== 'whale';
  for (const name of ['k', 'v', 'causal'])
    if (options[/** @type {'k'} */ (name)] !== undefined && q === undefined)
      throw argumentError(caller, 'q', q, `queries, as there is ${name}`);
  for (const name of ['tokens', 'keys', 'batch'])
    if (options[/** @type {'tokens'} */ (name)] !== undefined && (!own || model !== undefined))
      throw argumentError(caller, name, options[/** @type {'tokens'} */ (name)], 'attentions, or q and k, beside it');
  if (title !== undefined && typeof title !== 'string') throw argumentError(caller, 'title', title, 'a text');
  if (!own) return null;
  if (model !== undefined) return { ...readModel(caller, model, document.baseURI), title };
  if (q !== undefined && k === undefined) throw argumentError(caller, 'k', k, 'keys, as there is q');
  if (q !== undefined && v === undefined) throw argumentError(caller, 'v', v, 'values, as there is q');
  if (isByPart(attentions)) return { ...partsIn(caller, options), title };
  const read = q === undefined ? readWeights(caller, attentions, { batch }) : readQkv(caller, { q, k, v, causal });
  const [T, S] = read.kind === 'qkv' ? [read.query.shape[1], read.key.shape[1]] : read.layers[0].shape.slice(1);
  const tokens = readTexts(caller, 'tokens', options.tokens, T);
  const keys = readTexts(caller, 'keys', options.keys, S);
  return { ...read, title, tokens, keys };
}

/**
 * Attentions by part, and the texts that they look at.
 * @param {string} caller
 * @param {ViewOptions} options
 */
function partsIn(caller, { attentions, tokens = {}, keys, batch }) {
  const given = readParts(caller, /** @type {any} */ (attentions), { batch });
  if (keys !== undefined) throw argumentError(caller, 'keys', keys, 'tokens: { source, target }, as there are parts');
  if (typeof tokens !== 'object' || tokens === null || Array.isArray(tokens))
    throw argumentError(caller, 'tokens', tokens, '{ source, target }: texts that are read and written');
  checkOptions(caller, tokens, ['source', 'target'], 'tokens');
  const of = /** @type {Record<string, unknown>} */ (tokens);
  const lengths = /** @type {Record<string, number | undefined>} */ (lengthsOf(given));
  const texts = ['source', 'target'].map((name) => {
    const count = lengths[name];
    return [name, count === undefined ? undefined : readTexts(caller, `tokens.${name}`, of[name], count)];
  });
  return { ...given, ...Object.fromEntries(texts) };
}

/** The weights of which something is shown first. @param {any} given @param {string} [part] */
const layersShown = (given, part) =>
  (given?.parts?.find((/** @type {any} */ one) => one.part === part) ?? given?.parts?.[0] ?? given)?.layers;

/**
 * How many layers and heads there are; undefined until a model has been read.
 * @param {any} given @param {string} [part]
 */
function countsOf(given, part) {
  if (given?.kind === 'qkv') return { layers: 1, heads: given.query.shape[0] };
  const shown = given?.kind === 'weights' ? layersShown(given, part) : undefined;
  return shown && { layers: shown.length, heads: shown[0].shape[0] };
}

/** @param {string} caller @param {string} name @param {unknown} value @param {number | undefined} count */
const readPlace = (caller, name, value, count) =>
  readNumber(caller, name, value, { least: 0, most: count === undefined ? undefined : count - 1, integer: true });

/**
 * The fields of the state that the options name, checked.
 * @param {string} caller
 * @param {Partial<ViewOptions>} options
 * @param {import('../worker/sources/programInput.js').Given | null} given
 * @param {any} [about] the model that is shown and stays
 */
function shownIn(caller, options, given, about = null) {
  const { text, part, layer, head, cell, view, controls, theme, language } = options;
  if (part !== undefined) readWord(caller, 'part', part, PARTS);
  const parts = given && 'parts' in given ? given.parts.map((one) => one.part) : null;
  if (part !== undefined && given && given.kind !== 'folder' && given.kind !== 'files' && !parts?.includes(part))
    throw argumentError(
      caller,
      'part',
      part,
      parts ? `one of those that are given: ${parts.join(', ')}` : 'attentions by part',
    );
  const { layers, heads } = countsOf(given, part) ?? about ?? {};
  const count = (/** @type {string} */ name, /** @type {unknown} */ value, /** @type {number | undefined} */ all) =>
    readPlace(caller, name, value, all);
  if (view !== undefined) readWord(caller, 'view', view, VIEWS);
  if (controls !== undefined) readBoolean(caller, 'controls', controls);
  if (theme !== undefined) readWord(caller, 'theme', theme, ['light', 'dark']);
  if (language !== undefined) readWord(caller, 'language', language, ['en', 'zh']);
  if (text !== undefined && !(typeof text === 'string' && text.length <= MAX_TEXT))
    throw argumentError(caller, 'text', text, `a text of at most ${MAX_TEXT} characters`);
  if (cell) {
    count('cell.t', cell.t, undefined);
    count('cell.s', cell.s, undefined);
  } else if (cell !== undefined && cell !== null)
    throw argumentError(caller, 'cell', cell, '{ t, s }: the token that asks, and the one that is looked at');
  return {
    ...(text !== undefined && { text }),
    ...(part !== undefined ? { part } : parts && { part: parts[0] }),
    ...(layer !== undefined && { layer: count('layer', layer, layers) }),
    ...(head !== undefined && { head: count('head', head, heads) }),
    ...(cell !== undefined && { cell: cell && { t: cell.t, s: cell.s } }),
    ...((view === 'lines' || view === 'flow') && { view }),
    ...(view === 'story' && { panel: 'story' }),
  };
}

/** @param {string} caller @param {unknown} state @returns {string | object} */
function stateIn(caller, state) {
  if (state === undefined || typeof state === 'string') return state ?? '';
  if (state === null || typeof state !== 'object')
    throw argumentError(caller, 'state', state, 'an address, or a state');
  return state;
}

/**
 * @param {string} caller
 * @param {HTMLElement} element
 * @param {ViewOptions} options
 * @param {object} own
 * @param {() => any} own.start the worker
 * @param {readonly string[]} own.models of the menu, those whose files are there
 * @param {(theme: string) => void} [own.onTheme]
 * @returns {View}
 */
export function createView(caller, element, options, { start, models, onTheme }) {
  checkOptions(caller, options, OPTIONS);
  const { onState } = options;
  if (onState !== undefined && typeof onState !== 'function')
    throw argumentError(caller, 'onState', onState, 'a function');
  const given = givenIn(caller, options);
  const fields = shownIn(caller, options, given);
  const before = stateIn(caller, options.state);
  const first = before === '' && given ? { layer: 0, head: 0 } : {};
  const { view = 'instrument', controls = true } = options;
  /** A layer or a head that the model has not, once it has been read. @type {unknown} */
  let wrong = null;
  let checked = false;
  const refuses = (/** @type {any} */ { layers, heads }) => {
    if (checked) return null;
    checked = true;
    const { layer, head } = options;
    try {
      if (layer !== undefined) readPlace(caller, 'layer', layer, layers);
      if (head !== undefined) readPlace(caller, 'head', head, heads);
      return null;
    } catch (error) {
      wrong = error;
      return /** @type {Error} */ (error).message;
    }
  };
  const shape = signal({ view, controls, ...sizeOf(given, options.part) });
  const state = typeof before === 'string' && before !== '' ? readAddress(before) : before || {};
  // Until its root is filled the host is as high as the element is by itself.
  const probe = document.createElement('div');
  probe.style.cssText = 'height: 100%';
  element.append(probe);
  const fills = probe.clientHeight > 0;
  probe.remove();
  let page;
  try {
    page = mountPage(
      element,
      {
        start: () => routed(start, PROGRAM_MODEL),
        state: { ...first, ...state, ...(given && { model: PROGRAM_MODEL }), ...fields },
        given,
        refuses,
        embedded: true,
        models,
        theme: options.theme,
        language: options.language,
        onState: /** @type {any} */ (onState),
      },
      embedded(shape, fills),
      [style],
    );
  } catch (error) {
    if (error instanceof RangeError)
      throw argumentError(caller, 'state', options.state, `what can be: ${error.message}`);
    throw error;
  }
  const { session } = page;
  page.host.classList.toggle('fills', fills);
  const dress = onTheme && session.theme.subscribe(onTheme);
  const drawn = new Promise((resolve, reject) => {
    const end = effect(() => {
      const failure = session.failure.value;
      if (failure !== null) reject(wrong ?? new HeadlightError('STATE', `${caller}: ${failure}`));
      else if (session.run.value) resolve(undefined);
      else return;
      queueMicrotask(() => end());
    });
  });
  const ready = Promise.all([drawn, session.languageReady]).then(() => {});
  // Who does not wait for it has it in the element.
  ready.catch(() => {});
  return {
    get state() {
      return /** @type {any} */ (page.state);
    },
    ready,
    address: () => page.address(),
    update(change) {
      checkOptions('update', change, OPTIONS);
      const isNew = DATA.some((name) => /** @type {any} */ (change)[name] !== undefined);
      const next = isNew ? givenIn('update', /** @type {ViewOptions} */ (change)) : null;
      checked = true;
      const patch = shownIn('update', change, next, isNew ? null : session.about.peek());
      const { theme, language } = change;
      if (theme) session.setTheme(theme);
      if (language) session.setLanguage(language);
      shape.value = {
        view: change.view ?? shape.peek().view,
        controls: change.controls ?? shape.peek().controls,
        ...(isNew ? sizeOf(next, change.part) : { T: shape.peek().T, S: shape.peek().S }),
      };
      if (change.state !== undefined) page.update(/** @type {any} */ (stateIn('update', change.state)));
      if (next) {
        session.showProgramModel(next);
        page.update({ model: PROGRAM_MODEL, layer: 0, head: 0, cell: null, ...patch });
      } else if (isNew) page.update({ model: 'whale', ...patch });
      else if (Object.keys(patch).length > 0) page.update(patch);
    },
    destroy() {
      dress?.();
      page.destroy();
    },
  };
}

/** How many tokens the picture will have, where that is known. @param {any} given @param {string} [part] */
const sizeOf = (given, part) => {
  const layers = given?.kind === 'weights' && layersShown(given, part);
  if (layers) return { T: layers[0].shape[1], S: layers[0].shape[2] };
  return given?.kind === 'qkv' ? { T: given.query.shape[1], S: given.key.shape[1] } : { T: 0, S: 0 };
};
