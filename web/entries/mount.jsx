// Puts the instrument into an element, in a shadow root of its own.

import { render } from 'preact';
import { createSession } from '../store/session.js';
import { SessionContext } from '../ui/context.js';
import { customProperties } from '../ui/palette.js';
import { App } from './app.jsx';
import { styles as parts } from './styles.js';

/** @import { About } from '../store/protocol.js' */
/** @import { State } from '../store/state.js' */

/**
 * @typedef {object} MountOptions
 * @property {Partial<State> | string} [state] some fields, or the part of an address after #
 * @property {'en' | 'zh'} [language] default: the language of the browser
 * @property {'light' | 'dark'} [theme] default: the theme of the browser
 * @property {(state: State, substituted: boolean | 'later') => void} [onState] called after every change. substituted:
 *   true if the chosen model could not be shown, 'later' if it must be downloaded first
 * @property {(language: string, title: string) => void} [onLanguage]
 * @property {(name: 'language' | 'theme', value: string) => void} [onChoice] called with a choice that may be stored
 * @property {() => import('../worker/client.js').WorkerLike} start starts the worker, or an object that replaces it
 * @property {Promise<string>} [first] the answer to `show` for the initial state: see firstAnswer.js
 * @property {import('../worker/sources/programInput.js').ProgramInput | null} [programModel] the input of the program,
 *   which becomes the model PROGRAM_MODEL
 * @property {(about: About) => string | null} [refuses] called after a model was read; returns the problem if the
 *   options do not fit the model
 * @property {boolean} [embedded] true if the instrument is a part of another page
 * @property {readonly string[]} [models] models of the menu whose files are available
 */

const sheetOf = (/** @type {string} */ text) => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(text);
  return sheet;
};
const colours = `:host([data-theme='light']) { ${customProperties('light')} color-scheme: light }
:host([data-theme='dark']) { ${customProperties('dark')} color-scheme: dark }`;

/**
 * @param {HTMLElement} element
 * @param {MountOptions} options
 * @param {import('preact').ComponentType<{ host: HTMLElement }>} [Root]
 * @param {string[]} [styles] additional style sheets, which come last
 */
export function mount(element, options, Root = App, styles = []) {
  const host = document.createElement('div');
  const root = host.attachShadow({ mode: 'open' });
  const last = styles.map(sheetOf);
  let sheets = [colours, ...parts].map(sheetOf);
  root.adoptedStyleSheets = [...sheets, ...last];
  const added = new Set();
  /** Adds the style sheet of a part that is loaded later. @param {string} text */
  const addStyles = (text) => {
    if (added.has(text)) return;
    added.add(text);
    sheets = [...sheets, sheetOf(text)];
    root.adoptedStyleSheets = [...sheets, ...last];
  };
  const session = { ...createSession(options), addStyles };
  const stopTheme = session.theme.subscribe((theme) => {
    host.dataset.theme = theme;
    if (element === document.body) document.documentElement.style.colorScheme = theme;
  });
  const stopLanguage = session.language.subscribe((language) => {
    host.lang = language === 'zh' ? 'zh-Hans' : language;
  });
  element.append(host);
  render(
    <SessionContext.Provider value={session}>
      <Root host={host} />
    </SessionContext.Provider>,
    root,
  );
  return {
    session,
    host,
    get state() {
      return session.state.value;
    },
    update: (/** @type {Partial<State> | string} */ patch) =>
      typeof patch === 'string' ? session.open(patch) : session.update(patch),
    address: session.address,
    destroy() {
      render(null, root);
      stopTheme();
      stopLanguage();
      session.stop();
      host.remove();
    },
  };
}
