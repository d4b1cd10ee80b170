// Models of the Hugging Face Hub: the name that is typed, what is known about the model before it is downloaded, the
// models that this browser stores, and the token. The panel that opens models creates it.

import { effect, signal } from '@preact/signals';
import { choiceOf, isLarge } from '../features/hub/memory.js';
import { readOnly } from './readOnly.js';

/** @import { HubAnswer, HubModel, StoredHubModel, WeightsForm } from './hubProtocol.js' */
/** @import { About } from './protocol.js' */
/** @import { State } from './state.js' */

/** Once so much is stored, the browser is asked not to delete it when it needs room. */
const WORTH_KEEPING = 50e6;

/**
 * @param {object} store
 * @param {import('./requests.js').Requests} store.requests
 * @param {import('./fileReading.js').FileReader} store.files
 * @param {(name: string) => About | null} store.aboutOf an opened model
 * @param {(about: About) => void} store.present shows an opened model
 * @param {State | null} link whose model is to be opened first
 */
export function createHub({ requests, files, aboutOf, present }, link) {
  const typed = signal('');
  const describing = signal(/** @type {string | null} */ (null));
  const model = signal(/** @type {HubModel | null} */ (null));
  const form = signal(/** @type {WeightsForm | null} */ (null));
  const waiting = signal(false);
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let waitingEnds;
  const stored = signal(/** @type {StoredHubModel[] | null} */ (null));
  // In memory only: neither stored nor in an address.
  const token = signal('');
  /** The model that is being downloaded. @type {HubModel | null} */
  let downloading = null;
  /** The name that was looked up last. */
  let last = '';
  /** The head and the text to be shown of the model that is being opened. @type {Partial<State> | undefined} */
  let view;
  /** A model is not opened without a question: the last one has ended the worker. */
  let asksFirst = false;

  const { problem } = files.actions;
  effect(() => {
    if (problem.value) describing.value = null;
  });

  /** @param {string} address a name or a link @param {Partial<State>} [wanted] */
  function describe(address, wanted) {
    files.clearProblem();
    downloading = null;
    view = wanted;
    last = address;
    asking = null;
    model.value = null;
    describing.value = address;
    requests.send({ verb: 'hubDescribe', address, token: token.peek() });
  }
  /** @param {HubModel} found @param {WeightsForm} weights */
  function download(found, weights) {
    const { name, size, download: left, stores } = found;
    downloading = found;
    form.value = weights;
    files.begin({ title: titleOf(name), total: size, resumes: stores });
    if (left > WORTH_KEEPING) navigator.storage?.persist?.().catch(() => {});
    requests.send({ verb: 'hubOpen', name, weights, token: token.peek() });
  }
  /** @param {HubModel} found */
  function found(found) {
    describing.value = null;
    const about = aboutOf(found.name);
    if (about) return present(about);
    const choice = choiceOf(found, memoryOfMachine());
    if (choice && !asksFirst && !isLarge(found, choice)) return download(found, choice.weights);
    asksFirst = false;
    if (!downloading) form.value = choice?.weights ?? null;
    downloading = null;
    model.value = found;
  }
  /** The state of the link that asks for this model. @type {State | null} */
  let asking = null;
  /** @param {number} seconds until the next request */
  function wait(seconds) {
    waiting.value = true;
    clearTimeout(waitingEnds);
    waitingEnds = setTimeout(() => {
      waiting.value = false;
    }, 1000 * seconds);
  }
  const list = () => requests.send({ verb: 'hubStored' });

  /** @param {State} state of a link */
  function follow(state) {
    describe(state.model);
    asking = state;
  }

  list();
  if (link) follow(link);

  return {
    typed: readOnly(typed),
    /** @param {string} text */
    type(text) {
      typed.value = text;
    },
    /** The name of the model that is being looked up. */
    describing: readOnly(describing),
    /** True between two attempts: the Hub limits requests, or the connection was broken. */
    waiting: readOnly(waiting),
    /** The model that the visitor is asked about. */
    model: readOnly(model),
    /** The form of its weights that is chosen. */
    form: readOnly(form),
    /** @param {WeightsForm} weights */
    setForm(weights) {
      form.value = weights;
    },
    /** The stored models; null until they are known. */
    stored: readOnly(stored),
    token: readOnly(token),
    /** @param {string} text */
    setToken(text) {
      token.value = text.trim();
    },
    describe,
    /** Repeats the last attempt, with the token that is entered now. */
    again: () => describe(last, view),
    /** The state of the link that asks for this model. */
    get link() {
      return asking;
    },
    /** Downloads the model that the visitor was asked about, and opens it. */
    open() {
      const [asked, weights] = [model.peek(), form.peek()];
      if (asked && weights) download(asked, weights);
    },
    /** Returns to the choice of a model. */
    back() {
      requests.cancel('hubDescribe');
      describing.value = null;
      model.value = null;
    },
    list,
    /** Deletes a stored model. @param {string} id */
    remove(id) {
      requests.send({ verb: 'hubStored', remove: id });
    },

    follow,
    /** @param {HubAnswer} answer */
    receive(answer) {
      if (answer.stored) stored.value = answer.stored;
      if (answer.described) found(answer.described);
      if (answer.waits !== undefined) wait(answer.waits);
    },
    /** The download was cancelled: asks again, as less is to be downloaded now. */
    cancelled() {
      if (!downloading) return;
      asksFirst = true;
      model.value = downloading;
      requests.send({ verb: 'hubDescribe', address: downloading.name, token: token.peek() });
    },
    /** The view that was asked for with the model. @returns {Partial<State> | undefined} */
    takeView() {
      const taken = view;
      view = undefined;
      downloading = null;
      model.value = null;
      typed.value = '';
      return taken;
    },
    /** The worker has died: the next model is opened only after a question. */
    askFirst() {
      describing.value = null;
      asksFirst = true;
    },
  };
}
/** @typedef {ReturnType<typeof createHub>} Hub */

/** The name of a model without its revision. @param {string} name of state.model */
const titleOf = (name) => name.split('@')[0];

/** Bytes of memory that the browser reports; it reports at most 8 GB or none at all. */
export function memoryOfMachine() {
  const { deviceMemory } = /** @type {Navigator & { deviceMemory?: number }} */ (navigator);
  return deviceMemory === undefined ? null : deviceMemory * 2 ** 30;
}
