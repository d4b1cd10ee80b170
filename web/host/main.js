// The page itself: fills the window, keeps the view in the address and remembers the language.

import { mount } from './mount.js';
import { recall, remember } from './storage.js';

/** The address follows the state after this many milliseconds without a change. */
const ADDRESS_DELAY = 250;

/** @type {ReturnType<typeof setTimeout> | undefined} */
let timer;
document.body.style.margin = '0';
const page = mount(document.body, {
  state: location.hash.slice(1),
  language: /** @type {'en' | 'zh' | undefined} */ (recall('language')),
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
