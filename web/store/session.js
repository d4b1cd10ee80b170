// What the page knows, as signals: the state with its history, the parts of the answer that have come, what the pointer
// is on. It asks the worker whenever the state has changed what is asked.

import { batch, computed, effect, signal } from '@preact/signals';
import { readLink, writeLink } from '../features/story/steps.js';
import { isOpen } from '../features/train/lessons.js';
import { LANGUAGES, languageFor, loadLanguage } from '../texts/languages.js';
import { download } from '../ui/download.js';
import { createAsk } from '../worker/client.js';
import { createShown } from './answers.js';
import { unfoldAnswer } from './firstAnswer.js';
import { record, redo, replace, settle, startHistory, undo } from './history.js';
import { createOpening } from './openModels.js';
import { readOnly } from './readOnly.js';
import { runOf, TRAINED } from './runInput.js';
import { change, GIVEN, initialState } from './state.js';
import { createTraining } from './training.js';
import { createUi } from './ui.js';

/** @import { State } from './state.js' */
/** @import { Language } from '../texts/languages.js' */

/** Fields of the state that the answer does not depend on. */
const UNASKED = new Set(['cell', 'view', 'versus', 'colours', 'mean', 'panel', 'step', 'hide', 'scope']);
const asked = (state) =>
  JSON.stringify([state.view === 'compare', Object.entries(state).filter(([name]) => !UNASKED.has(name))]);
/** What the guess depends on. */
const numbersOf = (state) => JSON.stringify([state.model, state.token, state.pinned, runOf(state)]);
/** Tokens that are written at once. */
const WRITTEN = 24;

/** The key that a row of the head shown gives most to. */
function strongest({ weights, large, about, T, S, layer, head }, t) {
  const first = large ? 0 : (layer * about.heads + head) * T;
  const row = weights.subarray((first + t) * S).subarray(0, S);
  return row.reduce((best, weight, s) => (weight > row[best] ? s : best), 0);
}

/** @param {import('../entries/mount.jsx').MountOptions} options */
export function createSession({ state: began = '', language, theme, onState, onLanguage, onChoice, ...page }) {
  const first =
    typeof began === 'string' ? readLink(began) : change(initialState, /** @type {Partial<State>} */ (began));
  /** What was handed over to be shown. */
  let { given = null } = page;
  const history = signal(startHistory(first));
  const state = computed(() => history.value.now);
  const preferred = languageFor([language ?? '', ...navigator.languages]);
  const languageName = signal(preferred in LANGUAGES ? preferred : 'en');
  const speak = (/** @type {Language} */ name) => loadLanguage(name).then(() => (languageName.value = name));
  // Where they cannot be loaded, the page stays English.
  const languageReady = preferred === languageName.peek() ? Promise.resolve() : speak(preferred).catch(() => {});
  const dark = matchMedia('(prefers-color-scheme: dark)');
  const themeName = signal(theme ?? (dark.matches ? 'dark' : 'light'));
  // The system's colours are followed until others are chosen here.
  let ownTheme = theme !== undefined && theme !== null;
  const followSystem = () => {
    if (!ownTheme) themeName.value = dark.matches ? 'dark' : 'light';
  };
  dark.addEventListener('change', followSystem);
  const shown = createShown(first.model);
  const { about, run, other, trades, versus, real, feeds, tried, pooled } = shown;
  const ui = createUi();
  const trying = signal(false);
  const progress = signal(/** @type {number | null} */ (null));
  const failure = signal(/** @type {string | null} */ (null));
  /** Another source that could not be shown, and why. */
  const refused = signal(/** @type {{ title: string, why: string } | null} */ (null));
  /** The worker has ended and another was begun: { lost, training }. */
  const ended = signal(/** @type {{ lost: string[], training: boolean } | null} */ (null));
  const busy = signal(false);
  const writing = signal(false);
  const spoken = signal('');
  const opening = createOpening({
    ask: () => ask,
    update: (patch, gesture) => update(patch, gesture),
    state: () => state.peek(),
    show: () => show(),
  });
  /** What is read: the cell under the pointer, the one held, or where the last token looks most. */
  const cell = computed(() => {
    const { T, S } = run.value ?? { T: 0, S: 0 };
    if (T === 0 || S === 0) return null;
    const { t, s } = ui.hover.value ?? state.value.cell ?? { t: run.value.place ?? T - 1, s: -1 };
    const row = Math.min(t, T - 1);
    return { t: row, s: s < 0 ? strongest(run.value, row) : Math.min(s, S - 1) };
  });

  let before = '';
  /** What is shown takes the place of what cannot be. */
  let instead = false;
  let seed = 0;
  /** The worker has answered since it was begun. */
  let answered = false;
  /** The text that the model goes on with, what it has written, and which model it is. */
  let [base, written, writer] = ['', '', ''];

  const training = createTraining({
    state,
    update: (patch, gesture) => update(patch, gesture),
    sample: () => LANGUAGES[languageName.peek()].train.sample,
    onSaved: (name, bytes) => download(name, 'application/octet-stream', bytes),
  });

  const parts = {
    ...training.parts,
    progress: ({ read, total }) => (progress.value = total ? Math.min(read / total, 1) : null),
    source(part) {
      progress.value = null;
      const wrong = page.refuses?.(part.about);
      if (wrong) {
        ask.cancel('show');
        return (failure.value = wrong);
      }
      shown.announce(part.about);
      place(part.about);
    },
    run(part) {
      // What was on its way when training was opened or left.
      if (isOpen(state.peek()) !== (part.verb === 'train')) return;
      // Where keys are other tokens than queries, they are named; else they are the same.
      shown.answer({ ...part, S: part.S ?? part.T, keys: part.keys ?? part.pieces });
      failure.value = null;
    },
    pooled: ({ layer, head, data, rows, columns }) =>
      shown.set({ pooled: { ...pooled.peek(), [`${layer}.${head}`]: { data, rows, columns } } }),
    other: (part) => shown.set({ other: part }),
    versus: (part) => shown.set({ versus: part }),
    trades: (part) => shown.name(part.trades),
    real: (part) => shown.set({ real: part }),
    feeds: (part) => shown.set({ feeds: part }),
    heads: (part) => shown.set({ tried: part }),
    written: ({ text }) => {
      // Who writes, undoes or takes another model meanwhile is not written over.
      const { model, text: now } = state.peek();
      if (model !== writer || now !== base + written) return ask.cancel('write');
      written = text;
      update({ text: base + text }, 'write');
    },
    given: ({ about, told }) => opening.adopt(about, told, first.text !== initialState.text),
    ...opening.parts,
  };
  const listeners = {
    onPart: (part) => batch(() => shown.isOf(part.of) && parts[part.part](part)),
    onDone: (verb) => {
      answered = true;
      if (verb === 'show') busy.value = false;
      else if (verb === 'heads') trying.value = false;
      else if (verb === 'write') {
        writing.value = false;
        rest();
      }
    },
    onError: (error) =>
      batch(() => {
        const { verb, message, code } = error;
        if (verb === 'show') busy.value = false;
        if (verb === 'write') writing.value = false;
        if (verb === 'heads') trying.value = false;
        if (code === 'gone') {
          // Opened models end with the page: their files are the visitor's.
          opening.failed(error);
          instead = true;
          opening.choose('whale');
          instead = false;
          return;
        }
        if (verb === 'open' || verb === 'picture') return opening.failed(error);
        const why = LANGUAGES[languageName.value].problems[code]?.(.../** @type {any[]} */ (error.values)) ?? message;
        if (verb !== 'show' || !goBack(why)) failure.value = why;
      }),
    onEnd: () =>
      batch(() => {
        busy.value = false;
        writing.value = false;
        trying.value = false;
        progress.value = null;
        const lost = opening.opened.peek().map(({ about }) => about.title);
        // What ends one worker after the other is not asked of a third one.
        if (!answered) return (failure.value = LANGUAGES[languageName.peek()].endedAgain);
        answered = false;
        ended.value = { lost, training: state.peek().model === TRAINED };
        again();
      }),
  };
  const ask = createAsk(listeners, page.start);
  const give = () => given && ask.ask({ verb: 'give', name: GIVEN, given });

  function show() {
    busy.value = true;
    ask.ask({ verb: 'show', state: state.peek() });
  }
  /** An address may name a head that the model has not: the one that is shown instead is chosen. */
  function place({ name, layers, heads }) {
    const { model, layer, head } = state.peek();
    if (model !== name || (layer < layers && head < heads)) return;
    history.value = replace(history.peek(), {
      ...state.peek(),
      layer: Math.min(layer, layers - 1),
      head: Math.min(head, heads - 1),
    });
  }
  /** Another source is chosen: of the one before nothing stays. @param {string} model @param {any} was the history */
  function leave(model, was) {
    shown.change(model, opening.aboutOf(model), was);
    [failure.value, refused.value, progress.value] = [null, null, null];
    ui.setHover(null);
    ui.setPinnedHover(null);
    fed = '';
    for (const verb of ['feeds', 'real', 'heads', 'write']) ask.cancel(verb);
  }
  /** Where a source fails before its first answer, all that was shown before is shown again. @param {string} why */
  function goBack(why) {
    const was = shown.restore();
    if (!was) return false;
    const { model } = state.peek();
    const title = opening.drop(model) ?? LANGUAGES[languageName.peek()].others[model]?.[0] ?? model;
    refused.value = { title, why };
    history.value = was;
    before = asked(was.now);
    onState?.(was.now, true);
    if (!training.follow(null, was.now)) show();
    return true;
  }
  /** Lines between heads are asked for where they are shown. */
  let fed = '';
  function feed() {
    const { view, model, layer, head } = state.peek();
    const now = JSON.stringify([model, layer, head]);
    if (view !== 'flow' || now === fed || isOpen(state.peek())) return;
    fed = now;
    ask.ask({ verb: 'feeds', state: state.peek() });
  }
  /** A new worker in the place of the one that failed. */
  function again() {
    failure.value = null;
    ask.restart();
    opening.forget();
    give();
    if (!training.follow(null, state.peek())) show();
  }
  /** What was found by trying every head holds as long as nothing else is asked. */
  function forget() {
    ask.cancel('heads');
    shown.set({ tried: null });
  }
  function become(next) {
    const was = history.peek();
    batch(() => {
      history.value = next;
      if (next.now.model !== was.now.model) leave(next.now.model, was);
    });
    onState?.(next.now, instead);
    if (next.now.layer !== was.now.layer || next.now.head !== was.now.head) ui.pick(null);
    if (numbersOf(next.now) !== numbersOf(was.now)) forget();
    feed();
    if (training.follow(was.now, next.now)) {
      before = '';
      return;
    }
    const now = asked(next.now);
    if (now === before) return;
    before = now;
    show();
  }
  /** Changes the state; changes with the same gesture are undone at once. */
  const update = (patch, gesture) => become(record(history.peek(), change(state.peek(), patch), gesture ?? null));
  const rest = () => (history.value = settle(history.peek()));

  /** What stands in a file is shown until the worker's first answer, or beside its failure. @param {string} file */
  function showFirst(file) {
    if (run.peek() || asked(state.peek()) !== asked(initialState)) return;
    const answer = unfoldAnswer(file);
    const failed = failure.peek();
    batch(() => {
      for (const part of answer) if (part.part !== 'source' || !about.peek()) parts[part.part](part);
      failure.value = failed;
    });
  }

  give();
  training.connect({ ask, about: () => about.peek()?.trained });
  if (!training.follow(null, first)) {
    before = asked(first);
    show();
    feed();
    page.first?.then(showFirst);
  }
  const language$ = effect(() => onLanguage?.(languageName.value, LANGUAGES[languageName.value].title));

  return {
    /** Whether it stands in another page; which models of the menu are there. */
    embedded: page.embedded === true,
    models: page.models ?? [],
    /** The weights that were handed over, with rows and columns exchanged. */
    async transposeGiven() {
      const [{ readWeights }, { swapped }] = await Promise.all([
        import('../worker/sources/programInput.js'),
        import('../features/open/rowSums.js'),
      ]);
      const { tokens, keys, layers } = /** @type {any} */ (given);
      const square = layers[0].shape[1] === layers[0].shape[2];
      const names = square ? { tokens, keys } : { tokens: keys, keys: tokens };
      given = { ...given, ...readWeights('transpose', swapped(layers)), ...names };
      give();
      show();
    },
    give(next) {
      given = next;
      give();
      show();
    },
    ...ui,
    state,
    training,
    about,
    run,
    comparison: other,
    pinnedHead: versus,
    roles: trades,
    tokenProbabilities: real,
    composition: feeds,
    ablation: tried,
    ablating: readOnly(trying),
    progress: readOnly(progress),
    failure: readOnly(failure),
    /** @param {string} message */
    fail(message) {
      failure.value = message;
    },
    refused: readOnly(refused),
    dismissRefused() {
      refused.value = null;
    },
    /** The first answer of a source is on its way. */
    loading: computed(() => busy.value && run.value === null),
    ended: readOnly(ended),
    dismissEnded() {
      ended.value = null;
    },
    busy: readOnly(busy),
    writing: readOnly(writing),
    cell,
    pooled,
    opening,
    announcement: readOnly(spoken),
    language: readOnly(languageName),
    languageReady,
    theme: readOnly(themeName),
    /** Colours that nobody has chosen, such as those of paper. @param {'light' | 'dark'} name */
    showTheme(name) {
      themeName.value = name;
    },
    words: computed(() => LANGUAGES[languageName.value]),
    /** Whether leaving the page would lose something: files are the visitor's, and a browser may not keep a model. */
    losesWork: computed(() => opening.opened.value.length > 0 || training.unkept.value),
    canUndo: computed(() => history.value.past.length > 0),
    update,
    endGesture: rest,
    /** What is no step to undo: the cell that is looked at. */
    look: (patch) => become(replace(history.peek(), change(state.peek(), patch))),
    undo() {
      become(undo(history.peek()));
      spoken.value = LANGUAGES[languageName.value].undone;
    },
    redo() {
      become(redo(history.peek()));
      spoken.value = LANGUAGES[languageName.value].redone;
    },
    announce: (text) => (spoken.value = text),
    write() {
      [base, written, writer] = [state.peek().text, '', state.peek().model];
      writing.value = true;
      rest();
      ask.ask({ verb: 'write', state: state.peek(), max: WRITTEN, seed: ++seed });
    },
    requestTokenProbabilities: () => ask.ask({ verb: 'real', state: state.peek() }),
    stopWriting: () => ask.cancel('write'),
    /** What the guess loses without each head in turn. */
    runAblation() {
      trying.value = true;
      shown.set({ tried: null });
      ask.ask({ verb: 'heads', state: state.peek() });
    },
    stopAblation: () => ask.cancel('heads'),
    retry: again,
    setLanguage(name) {
      onChoice?.('language', name);
      if (name in LANGUAGES) languageName.value = name;
      else speak(name);
    },
    setTheme(name) {
      ownTheme = true;
      themeName.value = name;
      onChoice?.('theme', name);
    },
    open: (address) => become(record(history.peek(), readLink(address))),
    address: () => writeLink(state.peek()),
    stop() {
      language$();
      dark.removeEventListener('change', followSystem);
      ask.stop();
    },
  };
}
/** @typedef {ReturnType<typeof createSession> & { wear: (text: string) => void }} Session */
