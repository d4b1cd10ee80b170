// Models of the Hugging Face Hub: the name that the visitor types, the description of a model before it is downloaded,
// the models that this browser stores, and the access token. The panel that opens models creates the Hub object.

import { effect, signal } from '@preact/signals';
import { choiceOf, isLarge } from '../features/hub/memory.js';
import { readOnly } from './readOnly.js';

/** @import { HubAnswer, HubModel, StoredHubModel, WeightsForm } from './hubProtocol.js' */
/** @import { About } from './protocol.js' */
/** @import { State } from './state.js' */

/** Before a download of more bytes, the page asks the browser not to delete its files when storage runs low. */
const WORTH_KEEPING = 50e6;

/**
 * @typedef {object} HubParts
 * @property {import('./requests.js').Requests} requests
 * @property {import('./fileReading.js').FileReader} files
 * @property {(name: string) => About | null} aboutOf describes an opened model
 * @property {(about: About) => void} present shows an opened model
 */

/** Methods are arrow functions because components pass them as handlers. */
export class Hub {
  #typed = signal('');
  #describing = signal(/** @type {string | null} */ (null));
  #model = signal(/** @type {HubModel | null} */ (null));
  #form = signal(/** @type {WeightsForm | null} */ (null));
  #waiting = signal(false);
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #waitingEnds;
  #stored = signal(/** @type {StoredHubModel[] | null} */ (null));
  // The token stays in memory: it is neither stored nor written into an address.
  #token = signal('');
  /** The model that is being downloaded. @type {HubModel | null} */
  #downloading = null;
  /** The name that was looked up last. */
  #last = '';
  /** The head and the text with which the next opened model is shown. @type {Partial<State> | undefined} */
  #view;
  /** True if the visitor must confirm the next download, because the last one ended the worker or was cancelled. */
  #asksFirst = false;
  #parts;

  /** The state of the link that led to the model that is looked up. @type {State | null} */
  link = null;
  typed = readOnly(this.#typed);
  /** The name of the model that is being looked up. */
  describing = readOnly(this.#describing);
  /** True while the page waits before it repeats a request, because the Hub limits requests or the connection broke. */
  waiting = readOnly(this.#waiting);
  /** The model whose download the visitor is asked to confirm. */
  model = readOnly(this.#model);
  /** The form in which the weights of `model` are to be kept in memory. */
  form = readOnly(this.#form);
  /** The stored models; null until they are known. */
  stored = readOnly(this.#stored);
  token = readOnly(this.#token);

  /** @param {HubParts} parts @param {State | null} link the state of a link whose model is opened first */
  constructor(parts, link) {
    this.#parts = parts;
    const { problem } = parts.files.actions;
    effect(() => {
      if (problem.value) this.#describing.value = null;
    });
    this.list();
    if (link) this.follow(link);
  }

  /** @param {string} text */
  type = (text) => {
    this.#typed.value = text;
  };
  /** @param {WeightsForm} weights */
  setForm = (weights) => {
    this.#form.value = weights;
  };
  /** @param {string} text */
  setToken = (text) => {
    this.#token.value = text.trim();
  };
  list = () => this.#send({ verb: 'hubStored' });
  /** Deletes a stored model. @param {string} id */
  remove = (id) => this.#send({ verb: 'hubStored', remove: id });

  /** Looks a model up. @param {string} address a name or a link @param {Partial<State>} [view] to show it with */
  describe = (address, view) => {
    this.#parts.files.clearProblem();
    this.#downloading = null;
    this.#view = view;
    this.#last = address;
    this.link = null;
    this.#model.value = null;
    this.#describing.value = address;
    this.#send({ verb: 'hubDescribe', address, token: this.#token.peek() });
  };
  /** Repeats the last attempt, with the token that is entered now. */
  again = () => this.describe(this.#last, this.#view);
  /** @param {State} state of a link */
  follow = (state) => {
    this.describe(state.model);
    this.link = state;
  };
  /** Downloads the model that the visitor has confirmed, and opens it. */
  open = () => {
    const [asked, weights] = [this.#model.peek(), this.#form.peek()];
    if (asked && weights) this.#download(asked, weights);
  };
  /** Returns to the choice of a model. */
  back = () => {
    this.#parts.requests.cancel('hubDescribe');
    this.#describing.value = null;
    this.#model.value = null;
  };

  /** @param {HubAnswer} answer */
  receive({ stored, described, waits }) {
    if (stored) this.#stored.value = stored;
    if (described) this.#found(described);
    if (waits !== undefined) this.#wait(waits);
  }
  /** Asks for confirmation again after a download was cancelled, because fewer bytes are left to download now. */
  cancelled = () => {
    if (!this.#downloading) return;
    this.#asksFirst = true;
    this.#model.value = this.#downloading;
    this.#send({ verb: 'hubDescribe', address: this.#downloading.name, token: this.#token.peek() });
  };
  /** Ends the opening of a model. @returns {Partial<State> | undefined} the view that was requested with the model */
  takeView() {
    const view = this.#view;
    this.#view = undefined;
    this.#downloading = null;
    this.#model.value = null;
    this.#typed.value = '';
    return view;
  }
  /** Makes the visitor confirm the next download, because the worker has died. */
  askFirst() {
    this.#describing.value = null;
    this.#asksFirst = true;
  }

  /** @param {import('./protocol.js').UnnumberedRequest} request */
  #send(request) {
    this.#parts.requests.send(request);
  }
  /** @param {HubModel} model @param {WeightsForm} weights */
  #download(model, weights) {
    const { name, size, download: left, stores } = model;
    this.#downloading = model;
    this.#form.value = weights;
    this.#parts.files.begin({ title: titleOf(name), total: size, resumes: stores });
    if (left > WORTH_KEEPING) navigator.storage?.persist?.().catch(() => {});
    this.#send({ verb: 'hubOpen', name, weights, token: this.#token.peek() });
  }
  /** @param {HubModel} model */
  #found(model) {
    this.#describing.value = null;
    const about = this.#parts.aboutOf(model.name);
    if (about) return this.#parts.present(about);
    const choice = choiceOf(model, memoryOfMachine());
    if (choice && !this.#asksFirst && !isLarge(model, choice)) return this.#download(model, choice.weights);
    this.#asksFirst = false;
    if (!this.#downloading) this.#form.value = choice?.weights ?? null;
    this.#downloading = null;
    this.#model.value = model;
  }
  /** @param {number} seconds until the next request */
  #wait(seconds) {
    this.#waiting.value = true;
    clearTimeout(this.#waitingEnds);
    this.#waitingEnds = setTimeout(() => {
      this.#waiting.value = false;
    }, 1000 * seconds);
  }
}

/** The name of a model without its revision. @param {string} name of state.model */
const titleOf = (name) => name.split('@')[0];

/** Returns the bytes of memory that the browser reports, at most 8 GB; null if it reports none. */
export function memoryOfMachine() {
  const { deviceMemory } = /** @type {Navigator & { deviceMemory?: number }} */ (navigator);
  return deviceMemory === undefined ? null : deviceMemory * 2 ** 30;
}
