// Models of the Hugging Face Hub: the name that the visitor types, the description of a model before it is downloaded,
// the models that this browser stores, and the access token. The panel that opens models creates the Hub object.

import { effect, signal } from '@preact/signals';
import { choiceOf, isLarge } from '../../model/hubMemory.ts';
import type { HubAnswer, HubModel, StoredHubModel, WeightsForm } from '../../model/protocol/hubProtocol.ts';
import type { About, UnnumberedRequest } from '../../model/protocol/protocol.ts';
import type { State } from '../../model/state.ts';
import { readOnly } from '../readOnly.ts';
import type { Requests } from '../requests.ts';
import type { FileReader } from './fileReading.ts';

/** Before a download of more bytes, the page asks the browser not to delete its files when storage runs low. */
const WORTH_KEEPING = 50e6;

export type HubParts = {
  requests: Requests;
  files: FileReader;
  /** describes an opened model */
  aboutOf: (name: string) => About | null;
  /** shows an opened model */
  present: (about: About) => void;
};

/** Methods are arrow functions because components pass them as handlers. */
export class Hub {
  #typed = signal('');
  #describing = signal(null as string | null);
  #model = signal(null as HubModel | null);
  #form = signal(null as WeightsForm | null);
  #waiting = signal(false);
  #waitingEnds: ReturnType<typeof setTimeout> | undefined;
  #stored = signal(null as StoredHubModel[] | null);
  // The token stays in memory: it is neither stored nor written into an address.
  #token = signal('');
  #downloading: HubModel | null = null;
  /** The name that was looked up last. */
  #last = '';
  /** The head and the text with which the next opened model is shown. */
  #view: Partial<State> | undefined;
  /** True if the visitor must confirm the next download, because the last one ended the worker or was cancelled. */
  #asksFirst = false;
  #parts: HubParts;

  /** The state of the link that led to the model that is looked up. */
  link: State | null = null;
  typed = readOnly(this.#typed);
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

  /** `link`: the state of a link whose model is opened first. */
  constructor(parts: HubParts, link: State | null) {
    this.#parts = parts;
    const { problem } = parts.files.actions;
    effect(() => {
      if (problem.value) this.#describing.value = null;
    });
    this.list();
    if (link) this.follow(link);
  }

  type = (text: string) => {
    this.#typed.value = text;
  };
  setForm = (weights: WeightsForm) => {
    this.#form.value = weights;
  };
  setToken = (text: string) => {
    this.#token.value = text.trim();
  };
  list = () => this.#send({ verb: 'hubStored' });
  remove = (id: string) => this.#send({ verb: 'hubStored', remove: id });

  /** Looks a model up. `address`: a name or a link; `view`: to show it with. */
  describe = (address: string, view?: Partial<State>) => {
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
  /** `state`: of a link. */
  follow = (state: State) => {
    this.describe(state.model);
    this.link = state;
  };
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

  receive({ stored, described, waits }: HubAnswer) {
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
  /** Ends the opening of a model; returns the view that was requested with it. */
  takeView(): Partial<State> | undefined {
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

  #send(request: UnnumberedRequest) {
    this.#parts.requests.send(request);
  }
  #download(model: HubModel, weights: WeightsForm) {
    const { name, size, download: left, stores } = model;
    this.#downloading = model;
    this.#form.value = weights;
    this.#parts.files.begin({ title: titleOf(name), total: size, resumes: stores });
    if (left > WORTH_KEEPING) navigator.storage?.persist?.().catch(() => {});
    this.#send({ verb: 'hubOpen', name, weights, token: this.#token.peek() });
  }
  #found(model: HubModel) {
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
  /** `seconds`: until the next request. */
  #wait(seconds: number) {
    this.#waiting.value = true;
    clearTimeout(this.#waitingEnds);
    this.#waitingEnds = setTimeout(() => {
      this.#waiting.value = false;
    }, 1000 * seconds);
  }
}

/** The name of a model without its revision. */
const titleOf = (name: string) => name.split('@')[0];

/** Returns the bytes of memory that the browser reports, at most 8 GB; null if it reports none. */
export function memoryOfMachine() {
  const { deviceMemory } = navigator as Navigator & { deviceMemory?: number };
  return deviceMemory === undefined ? null : deviceMemory * 2 ** 30;
}
