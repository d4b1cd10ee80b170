// The page itself: fills the window, keeps what is shown in the address, remembers language and theme.

import { mount } from './mount.jsx';

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
    return localStorage.getItem(name) ?? undefined;
  } catch {
    return undefined;
  }
}

/** @type {ReturnType<typeof setTimeout> | undefined} */
let timer;
document.body.style.margin = '0';
const page = mount(document.body, {
  state: location.hash.slice(1),
  language: /** @type {any} */ (recall('language')),
  theme: /** @type {any} */ (recall('theme')),
  onState() {
    clearTimeout(timer);
    timer = setTimeout(() => {
      const address = page.address();
      history.replaceState(null, '', address ? `#${address}` : location.pathname + location.search);
    }, ADDRESS_DELAY);
  },
  onLanguage(language, title) {
    document.documentElement.lang = language === 'zh' ? 'zh-Hans' : language;
    document.title = title;
  },
  onChoice: remember,
});
addEventListener('hashchange', () => page.update(location.hash.slice(1)));
