// The entry of the page, which fills the window, keeps the state in the address and remembers language and theme. A
// change of the state either becomes an entry of the browser's history or replaces the last entry, as decided by
// store/browserHistory.ts.

import { firstAddress, STORED } from '../model/firstVisit.ts';
import type { State } from '../model/state.ts';
import { writeLink } from '../store/address.ts';
import { isStep, kindOf } from '../store/browserHistory.ts';
import type { SessionOptions } from '../store/sessionOptions.ts';
import { recall, remember } from '../store/storage.ts';
import { type Language, languageFor, loadLanguage } from '../texts/languages.ts';
import { mount } from './mount.tsx';
import { models } from './page.startWorker.ts';
import { first, start } from './preload.ts';

/** The address follows the state after this many milliseconds without a change. */
const ADDRESS_DELAY = 250;

let timer: ReturnType<typeof setTimeout> | undefined;
/** The state that the address will show next. */
let waiting: State | null = null;
let before: State;
let last: string | null = null;
/** True while the page changes to a state of the browser's history after Back or Forward. */
let returning = false;

function write(way: 'pushState' | 'replaceState', state: State) {
  clearTimeout(timer);
  waiting = null;
  const address = writeLink(state);
  // A text that does not fit into the address is stored only in the history entry.
  history[way](state, '', address ? `#${address}` : location.pathname + location.search);
}

function onState(state: State, instead: boolean | 'later') {
  const kind = returning || instead ? null : kindOf(before, state);
  const step = isStep(kind, last);
  before = state;
  if (state.first === null) remember(STORED, 'seen');
  if (returning || instead) last = null;
  else if (step) last = kind;
  if (step) {
    if (waiting) write('replaceState', waiting);
    return write('pushState', state);
  }
  // Until a model of a link has been downloaded, the address keeps the link, although another model is shown.
  if (instead === 'later') return;
  // The entry is replaced at once, so that Back does not lead to a state that could not be shown.
  if (instead) return write('replaceState', state);
  waiting = state;
  clearTimeout(timer);
  timer = setTimeout(() => write('replaceState', state), ADDRESS_DELAY);
}

function show(language: Language) {
  const page = mount(document.body, {
    models,
    state: firstAddress(location.hash.slice(1), recall(STORED)),
    language,
    theme: recall('theme') as SessionOptions['theme'],
    onState,
    onLanguage(language, title) {
      document.documentElement.lang = language === 'zh' ? 'zh-Hans' : language;
      document.title = title;
    },
    onChoice: remember,
    start,
    first,
  });
  before = page.state;
  // The address contains the step of the first visit from the beginning, so that Back can return to this step.
  if (page.state.first === null) remember(STORED, 'seen');
  else write('replaceState', page.state);
  addEventListener('popstate', ({ state }) => {
    returning = true;
    try {
      page.update(state ?? location.hash.slice(1));
    } catch {
      // Another version of this page may have stored a state that is invalid now.
      page.update(location.hash.slice(1));
    } finally {
      returning = false;
    }
  });
}

document.body.style.margin = '0';
const language = languageFor([recall('language') ?? '', ...navigator.languages]);
loadLanguage(language).then(
  () => show(language),
  () => show('en'),
);
