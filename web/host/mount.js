// Puts the page into an element: what a visitor does changes the session, the worker is asked, the answer is drawn.

import { makeScale, makeSignedScale } from '../model/scale.js';
import { differs, headAbout, headName, startSession, whyNothing } from '../model/session.js';
import { change, checkPatch, initialState, PAGES } from '../model/state.js';
import { createStore } from '../model/store.js';
import { LANGUAGES, languageFor } from '../model/strings.js';
import { readState, writeState } from '../model/url.js';
import { createControls } from '../view/controls.js';
import { createExports } from '../view/exports.js';
import { createFigure } from '../view/figure.js';
import { createFiles } from '../view/files.js';
import { createHeads, sizeFor } from '../view/heads.js';
import { createProgress } from '../view/progress.js';
import { createReading } from '../view/reading.js';
import { createTheme } from '../view/theme.js';
import trainingMarkup from '../view/training.html';
import { createTraining } from '../view/training.js';
import { createAsk, startWorker } from '../worker/ask.js';
import markup from './page.html';
import style from './style.css';

/** @import { State } from '../model/types.js' */

/** What a session has that the worker's answer depends on. */
const ASKED = ['state', 'pinned', 'compare', 'large'];

/**
 * @typedef {object} MountOptions
 * @property {Partial<State> | string} [state] what is shown at first: some fields, or the part of an address after #
 * @property {'en' | 'zh'} [language] otherwise the browser's
 * @property {'light' | 'dark'} [theme] otherwise the browser's
 * @property {boolean} [header] title, language and theme above, as the page itself has them; default false
 * @property {(state: object) => void} [onState] after every change
 * @property {(language: string, title: string) => void} [onLanguage] at the start and after every change
 */

/** An address is read as far as it makes sense; fields given by a program are to be right. */
function stateFrom(caller, state, given) {
  if (typeof given === 'string') return readState(given);
  checkPatch(caller, given);
  return change(state, given);
}

/** The markup in a shadow root of the element. */
function build(element, { theme, header }) {
  const host = document.createElement('div');
  /** @type {any} */
  const root = host.attachShadow({ mode: 'open' });
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(style);
  root.adoptedStyleSheets = [sheet];
  root.innerHTML = markup;
  root.querySelector('footer').before(document.createRange().createContextualFragment(trainingMarkup));
  host.classList.toggle('whole', header);
  root.getElementById('head').hidden = !header;
  if (!header) {
    for (const main of root.querySelectorAll('main')) main.setAttribute('role', 'group');
    root.querySelector('footer').setAttribute('role', 'none');
  }
  if (theme) host.dataset.theme = theme;
  element.append(host);
  return { host, root };
}

/**
 * @param {HTMLElement} element
 * @param {MountOptions} [options]
 */
export function mount(
  element,
  { state: given = {}, language, theme: chosen, header = false, onState, onLanguage } = {},
) {
  const first = stateFrom('mount', initialState, given);
  const { host, root } = build(element, { theme: chosen, header });
  /** @type {(id: string) => any} */
  const $ = (id) => root.getElementById(id);
  const store = createStore(
    startSession(first, language && language in LANGUAGES ? language : languageFor(navigator.languages)),
  );
  const ending = new AbortController();
  const { signal } = ending;
  const theme = createTheme({ $, host, signal, onChange: redraw });
  const progress = createProgress($);
  let frame = 0;

  const strings = () => LANGUAGES[store.get().language];
  const become = (state) => store.set({ state });
  const update = (patch) => become(change(store.get().state, patch));

  const ask = createAsk({
    onShown: (shown) => store.set({ shown, answered: true, error: null }),
    onError: (error) => store.set({ error }),
    onProgress: ({ done, of }) => progress.say(strings().computed(done, of), done / of),
  });

  /** Asks for what is shown now. */
  function show() {
    const { state, pinned, compare, large } = store.get();
    const compared = pinned ? compare : 'none';
    ask.show({
      state,
      pinned: compared === 'none' ? null : pinned,
      wanted: {
        large,
        small: Math.round(sizeFor(state.heads) * (globalThis.devicePixelRatio || 1)),
        compare: compared,
        table: $('table-box').open,
        statistics: $('statistics-box').open,
      },
    });
    waitFor();
    redraw();
  }

  function waitFor() {
    progress.start(() => ask.busy() && progress.say(strings().computing));
    $('frame').setAttribute('aria-busy', 'true');
  }

  function request(verb, question, transfer) {
    waitFor();
    return ask.request(verb, question, transfer);
  }

  function redraw() {
    frame ||= requestAnimationFrame(draw);
    $('frame').setAttribute('aria-busy', 'true');
  }

  const common = { $, root, store, strings, update, redraw };
  const controls = createControls(common);
  const figure = createFigure({ ...common, become });
  const heads = createHeads(common);
  const reading = createReading(common);
  const files = createFiles({ ...common, host, request, progress, signal });
  createExports({ ...common, request });
  const training = createTraining({
    ...common,
    signal,
    startWorker: () => startWorker('train'),
    /** A trained layer with its inputs, shown as any tensors are. */
    explore: (source, heads, head) => files.open([source], { page: 'explore', heads, head, mask: 'causal' }),
  });

  store.subscribe((now, before) => {
    if (now.state !== before.state) onState?.(now.state);
    if (now.state.page !== before.state.page) turnPage();
    if (now.language !== before.language) speak();
    if (ASKED.some((name) => now[name] !== before[name])) show();
    else redraw();
  });

  function turnPage() {
    if (store.get().state.page === 'train') training.open();
    else training.close();
  }

  function draw() {
    frame = 0;
    const session = store.get();
    const { page } = session.state;
    $('explore').hidden = page !== 'explore';
    $('train').hidden = page !== 'train';
    for (const name of PAGES) $(`to-${name}`).setAttribute('aria-pressed', String(page === name));
    const scene = { ...session, strings: strings(), theme: theme.name(), colours: theme.colours() };
    const idle = !ask.busy() && !session.reading;
    if (idle) progress.end();
    if (page === 'train') {
      training.draw(scene);
      $('facts').textContent = '';
    } else drawExplore(scene);
    $('frame').setAttribute('aria-busy', String(!idle || ask.owing()));
  }

  function drawExplore(scene) {
    const { state, shown, compare } = scene;
    controls.draw(scene);
    const why = whyNothing(scene, scene.strings);
    $('message').textContent = why;
    $('pictures').hidden = why !== '';
    for (const part of root.querySelectorAll(
      '#explore .caption, .axes, #reading, .legend, .choices, #table-box, #explore .heads',
    ))
      part.hidden = why !== '';
    $('steps-box').hidden = why !== '' || !shown.cell;
    heads.clear(why !== '');
    // Until the answer to a change has come, the picture before it stands.
    if (why !== '' || shown.problem.shape[1] <= state.head) return;
    const most = Math.max(shown.heads.most, compare === 'side' ? (shown.pinned?.most ?? 0) : 0);
    const full = {
      ...scene,
      room: $('frame').clientWidth,
      differs: differs(scene),
      scale: differs(scene) ? makeSignedScale(scene.theme, most) : makeScale(scene.theme, most, state.scale),
      nameOf: (head) => headName(scene.strings, state, head),
      about: headAbout(scene.strings, state, state.head),
    };
    figure.draw(full);
    heads.draw(full);
    reading.draw(full);
    const [, H, T, S] = shown.problem.shape;
    $('facts').textContent = scene.strings.facts(shown.facts.info, shown.heads.milliseconds, T, S, H);
  }

  function speak() {
    const { language } = store.get();
    const { ui } = strings();
    host.lang = language === 'zh' ? 'zh-Hans' : language;
    for (const part of root.querySelectorAll('[data-text]')) part.textContent = ui[part.dataset.text];
    for (const part of root.querySelectorAll('[data-label]')) part.setAttribute('aria-label', ui[part.dataset.label]);
    $('language').value = language;
    onLanguage?.(language, ui.title);
  }

  $('language').onchange = () => store.set({ language: $('language').value });
  for (const name of PAGES) $(`to-${name}`).onclick = () => update({ page: name });
  $('skip').onclick = () => $(store.get().state.page === 'train' ? 'play' : 'large').focus();
  $('cancel').onclick = () => ask.cancel();
  for (const id of ['table-box', 'statistics-box']) $(id).ontoggle = show;
  const resized = new ResizeObserver(redraw);
  resized.observe(host);
  speak();
  turnPage();
  show();

  return {
    get state() {
      return store.get().state;
    },
    /** @param {object | string} patch fields of the state, or the part of an address after # */
    update: (patch) => become(stateFrom('update', store.get().state, patch)),
    /** The state as the part of an address after #. */
    address: () => writeState(store.get().state),
    /** Ends the workers and takes away all that was put into the element. */
    destroy() {
      ending.abort();
      resized.disconnect();
      cancelAnimationFrame(frame);
      progress.end();
      ask.stop();
      host.remove();
    },
  };
}
