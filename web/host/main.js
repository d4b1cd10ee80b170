// The page itself: fills the window, keeps the view in the address and remembers the language.

import { mount } from './mount.js';

/** The address follows the state after this many milliseconds without a change. */
const ADDRESS_DELAY = 250;

function remember(name, value) {
  try {
    localStorage.setItem(name, value);
  } catch {
    // No storage, as for a page from disk: nothing is stored.
  }
}

function recall(name) {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}

/** @type {ReturnType<typeof setTimeout> | undefined} */
let timer;
document.body.style.margin = '0';
const page = mount(document.body, {
  state: location.hash.slice(1),
  language: /** @type {'en' | 'zh' | undefined} */ (recall('language') ?? undefined),
  header: true,
  onState() {
    clearTimeout(timer);
    timer = setTimeout(() => history.replaceState(null, '', `#${page.address()}`), ADDRESS_DELAY);
  },
  onLanguage(language, title) {
    document.documentElement.lang = language === 'zh' ? 'zh-Hans' : language;
    document.title = title;
    remember('language', language);
  },
});
addEventListener('hashchange', () => page.update(location.hash.slice(1)));
