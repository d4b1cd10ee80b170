// Puts the page into an element: what a visitor does changes the state, the state asks the core, the answer is drawn.

import { EXAMPLES, tokenize } from '../model/examples.js';
import { LEARNED } from '../model/learned.js';
import { makeScale, makeSignedScale } from '../model/scale.js';
import { change, initialState, PAGES } from '../model/state.js';
import { LANGUAGES, languageFor } from '../model/strings.js';
import { readState, writeState } from '../model/url.js';
import { createControls } from '../view/controls.js';
import { createExports } from '../view/exports.js';
import { createFigure } from '../view/figure.js';
import { createHeads, sizeFor } from '../view/heads.js';
import { createReading } from '../view/reading.js';
import trainMarkup from '../view/training.html';
import { createTraining } from '../view/training.js';
import { createAsk } from '../worker/ask.js';
import markup from './page.html';
import style from './style.css';

/** What takes longer says how far it is. */
const PATIENCE = 100;

/**
 * @typedef {object} MountOptions
 * @property {object | string} [state] what is shown at first: some of the state's fields, or the part of an address after #
 * @property {'en' | 'zh'} [language] otherwise the browser's
 * @property {'light' | 'dark'} [theme] otherwise the browser's
 * @property {boolean} [header] title, language and theme above, as the page itself has them; default false
 * @property {(state: object) => void} [onState] after every change
 * @property {(language: string, title: string) => void} [onLanguage] at the start and after every change
 */

/**
 * @param {HTMLElement} element
 * @param {MountOptions} [options]
 */
export function mount(
  element,
  { state: start = {}, language: asked, theme: look, header = false, onState, onLanguage } = {},
) {
  const host = document.createElement('div');
  const root = host.attachShadow({ mode: 'open' });
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(style);
  root.adoptedStyleSheets = [sheet];
  root.innerHTML = markup;
  root.querySelector('footer').before(document.createRange().createContextualFragment(trainMarkup));
  const $ = (id) => root.getElementById(id);
  host.classList.toggle('whole', header);
  $('head').hidden = !header;
  if (!header) {
    for (const main of root.querySelectorAll('main')) main.setAttribute('role', 'group');
    root.querySelector('footer').setAttribute('role', 'none');
  }
  if (look) host.dataset.theme = look;
  element.append(host);

  const prefersDark = matchMedia('(prefers-color-scheme: dark)');
  const ending = new AbortController();
  let frame = 0;
  let progressTimer = 0;
  let asking = 0;
  let palette = null;

  const page = {
    $,
    root,
    host,
    signal: ending.signal,
    state: typeof start === 'string' ? readState(start) : change(initialState, start),
    language: asked && asked in LANGUAGES ? asked : languageFor(navigator.languages),
    /** The parts of the newest answer. */
    shown: {},
    error: '',
    fileProblem: null,
    /** The state that is kept for comparison, and how it is compared: 'none', 'side', 'difference'. */
    before: null,
    compare: 'none',
    painting: false,
    /** While files are read. */
    reading: false,
    /** How wide the large picture may be. */
    room: 0,
    trainRoom: 0,
    /** Pixels that the large picture has. */
    large: { rows: 512, columns: 512 },
    get strings() {
      return LANGUAGES[page.language];
    },
    theme: () => host.dataset.theme ?? (prefersDark.matches ? 'dark' : 'light'),
    /** The colours of the style, for canvases. */
    colours() {
      const theme = page.theme();
      if (palette?.theme === theme) return palette;
      const get = (name) => {
        $('probe').style.color = `var(--${name})`;
        return getComputedStyle($('probe')).color;
      };
      palette = {
        theme,
        text: get('soft'),
        ink: get('ink'),
        query: get('query'),
        key: get('key'),
        grid: get('grid'),
        hatch: get('hatch'),
        line: get('line'),
      };
      return palette;
    },
    headName(head) {
      const {
        state: { example },
        strings,
      } = page;
      if (EXAMPLES[example].learned)
        return strings.train.head(Math.floor(head / LEARNED.numHeads), head % LEARNED.numHeads);
      return EXAMPLES[example].named
        ? strings.heads[example === 'patches' ? 'patches' : 'words'][head]
        : strings.head(head);
    },
    headAbout: (head) =>
      EXAMPLES[page.state.example].named
        ? page.strings.headAbout[page.state.example === 'patches' ? 'patches' : 'words'][head]
        : '',
    tokenless: () => EXAMPLES[page.state.example].text && tokenize(page.state.text).length === 0,
    differs: () => Boolean(page.shown.facts?.differs) && page.compare === 'difference',
    update(patch) {
      page.become(change(page.state, patch));
    },
    become(next) {
      const turned = next.page !== page.state.page;
      page.state = next;
      if (turned) showPage();
      onState?.(next);
      page.look();
    },
    /** Asks for what is shown now. */
    look() {
      const { state, before, compare } = page;
      const look = {
        large: page.large,
        small: Math.round(sizeFor(state.heads) * (globalThis.devicePixelRatio || 1)),
        compare: before ? compare : 'none',
        table: $('table-box').open,
        statistics: $('statistics-box').open,
      };
      ask.look({ state, before: before && compare !== 'none' ? before : null, look });
      busy();
      page.redraw();
    },
    request: (verb, question, transfer) => {
      busy();
      return ask.request(verb, question, transfer);
    },
    redraw() {
      frame ||= requestAnimationFrame(draw);
      $('frame').setAttribute('aria-busy', 'true');
    },
    /** Says how far something is; null: it is done. */
    progress(text, share) {
      clearTimeout(progressTimer);
      $('progress').hidden = text === null;
      if (text === null) return;
      $('progress-text').textContent = text;
      if (share === undefined) $('share-done').removeAttribute('value');
      else $('share-done').value = share;
    },
  };

  function showPage() {
    if (page.state.page === 'train') train.open();
    else train.close();
  }

  function busy() {
    $('frame').setAttribute('aria-busy', 'true');
    asking ||= performance.now();
    clearTimeout(progressTimer);
    progressTimer = setTimeout(() => ask.busy() && page.progress(page.strings.computing), PATIENCE);
  }

  const ask = createAsk({
    onAnswer({ changed, empty, error, cancelled }) {
      page.error = cancelled ? page.strings.cancelled : (error ?? '');
      if (empty) page.shown = {};
      else if (changed) page.shown = { ...page.shown, ...changed };
      page.redraw();
    },
    onProgress({ done, of }) {
      if (performance.now() - asking > PATIENCE) page.progress(page.strings.computed(done, of), done / of);
    },
  });

  const [controls, figure, heads, reading] = [
    createControls(page),
    createFigure(page),
    createHeads(page),
    createReading(page),
  ];
  createExports(page);
  const train = createTraining(page);
  /** A trained layer with its inputs, looked at as any tensors are. */
  page.exploreTensors = (source, heads, head) =>
    controls.takeSources([source], { page: 'explore', heads, head, mask: 'causal' });

  /** What stands in the place of the picture; empty where there is one. */
  function whyNothing() {
    const { strings, state } = page;
    const { fileProblem: problem } = page;
    if (problem)
      return problem.code ? strings.fileProblems[problem.code](...problem.values) : strings.failed(problem.message);
    if (EXAMPLES[state.example].file && !state.file) return strings.noFile;
    if (page.error) return page.error === strings.cancelled ? page.error : strings.failed(page.error);
    if (page.tokenless()) return strings.empty;
    return page.shown.picture ? '' : strings.loading;
  }

  function draw() {
    frame = 0;
    const { $, shown, state } = page;
    $('explore').hidden = state.page !== 'explore';
    $('train').hidden = state.page !== 'train';
    for (const name of PAGES) $(`to-${name}`).setAttribute('aria-pressed', String(state.page === name));
    if (state.page === 'train') {
      page.trainRoom = $('task-about').parentElement.clientWidth;
      train.draw(page.colours());
      $('facts').textContent = '';
      $('frame').setAttribute('aria-busy', String(ask.busy()));
      return;
    }
    page.room = $('frame').clientWidth;
    const idle = !ask.busy() && !page.reading;
    if (idle) {
      asking = 0;
      page.progress(null);
    }
    controls.draw();
    const why = whyNothing();
    $('message').textContent = why;
    $('pictures').hidden = why !== '';
    for (const part of root.querySelectorAll(
      '#explore .caption, .axes, #reading, .legend, .choices, #table-box, #explore .heads',
    ))
      part.hidden = why !== '';
    $('steps-box').hidden = why !== '' || !shown.cell;
    heads.clear(why !== '');
    // Until the answer to a change has come, the picture before it stands.
    if (why === '' && shown.problem.shape[1] > state.head) {
      const scale = page.differs()
        ? makeSignedScale(page.theme(), shown.heads.most)
        : makeScale(
            page.theme(),
            Math.max(shown.heads.most, page.compare === 'side' ? (shown.held?.most ?? 0) : 0),
            state.scale,
          );
      const colours = page.colours();
      figure.draw(scale, colours);
      heads.draw(scale, colours);
      reading.draw(colours);
      const [, H, T, S] = shown.problem.shape;
      $('facts').textContent = page.strings.facts(shown.facts.info, shown.heads.milliseconds, T, S, H);
    }
    $('frame').setAttribute('aria-busy', String(!idle || ask.owing()));
  }

  function speak() {
    const { strings } = page;
    host.lang = page.language === 'zh' ? 'zh-Hans' : page.language;
    for (const part of root.querySelectorAll('[data-text]')) part.textContent = strings.ui[part.dataset.text];
    for (const part of root.querySelectorAll('[data-label]'))
      part.setAttribute('aria-label', strings.ui[part.dataset.label]);
    $('language').value = page.language;
    onLanguage?.(page.language, strings.ui.title);
    page.redraw();
  }

  $('theme').onclick = () => {
    host.dataset.theme = page.theme() === 'dark' ? 'light' : 'dark';
    page.redraw();
  };
  $('language').onchange = () => {
    page.language = $('language').value;
    speak();
  };
  $('to-explore').onclick = () => page.update({ page: 'explore' });
  $('to-train').onclick = () => page.update({ page: 'train' });
  $('skip').onclick = () => (page.state.page === 'train' ? $('play') : $('large')).focus();
  $('cancel').onclick = () => ask.cancel();
  for (const id of ['table-box', 'statistics-box']) $(id).ontoggle = page.look;
  prefersDark.addEventListener('change', page.redraw, { signal: ending.signal });
  const resized = new ResizeObserver(page.redraw);
  resized.observe(host);
  speak();
  showPage();
  page.look();

  return {
    get state() {
      return page.state;
    },
    /** @param {object | string} patch fields of the state, or the part of an address after # */
    update: (patch) => (typeof patch === 'string' ? page.become(readState(patch)) : page.update(patch)),
    /** The state as the part of an address after #. */
    address: () => writeState(page.state),
    /** Ends the worker and takes away all that was put into the element. */
    destroy() {
      ending.abort();
      resized.disconnect();
      cancelAnimationFrame(frame);
      clearTimeout(progressTimer);
      ask.stop();
      host.remove();
    },
  };
}
