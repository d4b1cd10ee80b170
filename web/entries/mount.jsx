// Puts the instrument into an element, in a shadow root of its own.

import { render } from 'preact';
import { createSession } from '../store/session.js';
import { SessionContext } from '../ui/context.js';
import { customProperties } from '../ui/palette.js';
import { App } from './app.jsx';
import { styles as parts } from './styles.js';

/** @import { State } from '../store/state.js' */

/**
 * @typedef {object} MountOptions
 * @property {Partial<State> | string} [state] some fields, or the part of an address after #
 * @property {'en' | 'zh'} [language] otherwise the browser's
 * @property {'light' | 'dark'} [theme] otherwise the browser's
 * @property {(state: State, instead: boolean) => void} [onState] after every change; whether it stands in the place of
 *   what could not be shown
 * @property {(language: string, title: string) => void} [onLanguage]
 * @property {(name: 'language' | 'theme', value: string) => void} [onChoice] what a page may remember
 * @property {() => import('../worker/client.js').Answering} start the worker, or what stands for it
 * @property {Promise<string>} [first] the answer to a page that begins with nothing changed: see firstAnswer.js
 * @property {import('../worker/sources/programInput.js').Given | null} [given] the first model, called PROGRAM_MODEL
 * @property {(about: any) => string | null} [refuses] what is wrong with what is asked of a source that has been read
 * @property {boolean} [embedded] it stands in another page
 * @property {readonly string[]} [models] of the menu, those whose files are there
 */

const sheetOf = (text) => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(text);
  return sheet;
};
const colours = `:host([data-theme='light']) { ${customProperties('light')} color-scheme: light }
:host([data-theme='dark']) { ${customProperties('dark')} color-scheme: dark }`;

/**
 * @param {HTMLElement} element
 * @param {MountOptions} options
 * @param {import('preact').ComponentType<any>} [Root]
 * @param {string[]} [styles] more style sheets, which come last
 */
export function mount(element, options, Root = App, styles = []) {
  const host = document.createElement('div');
  const root = host.attachShadow({ mode: 'open' });
  const last = styles.map(sheetOf);
  let sheets = [colours, ...parts].map(sheetOf);
  root.adoptedStyleSheets = [...sheets, ...last];
  const worn = new Set();
  /** Parts that are loaded later bring their styles. @param {string} text */
  const wear = (text) => {
    if (worn.has(text)) return;
    worn.add(text);
    sheets = [...sheets, sheetOf(text)];
    root.adoptedStyleSheets = [...sheets, ...last];
  };
  const session = { ...createSession(options), wear };
  const dress = session.theme.subscribe((theme) => {
    host.dataset.theme = theme;
    if (element === document.body) document.documentElement.style.colorScheme = theme;
  });
  const speak = session.language.subscribe((language) => (host.lang = language === 'zh' ? 'zh-Hans' : language));
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
    update: (patch) => (typeof patch === 'string' ? session.open(patch) : session.update(patch)),
    address: session.address,
    destroy() {
      render(null, root);
      dress();
      speak();
      session.stop();
      host.remove();
    },
  };
}
