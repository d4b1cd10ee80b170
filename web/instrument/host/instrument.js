// The page itself: fills the window, keeps what is shown in the address, remembers language and theme.

import { recall, remember } from '../../host/storage.js';
import { startWorker } from '../worker/start.js';
import { mount } from './mount.jsx';

/** The address follows the state after this many milliseconds without a change. */
const ADDRESS_DELAY = 250;

/** @type {ReturnType<typeof setTimeout> | undefined} */
let timer;
document.body.style.margin = '0';
const page = mount(document.body, {
  start: startWorker,
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
