// Puts the instrument into an element, in a shadow root of its own.

import { type ComponentType, render } from 'preact';
import type { About } from '../store/protocol.ts';
import { createSession } from '../store/session.ts';
import type { State } from '../store/state.ts';
import { SessionContext } from '../ui/context.ts';
import { customProperties } from '../ui/palette.ts';
import type { WorkerLike } from '../worker/client.ts';
import type { ProgramInput } from '../worker/sources/programInput.ts';
import { App } from './app.tsx';
import { styles as parts } from './styles.ts';

export type MountOptions = {
  /** some fields, or the part of an address after # */
  state?: Partial<State> | string;
  /** default: the language of the browser */
  language?: 'en' | 'zh';
  /** default: the theme of the browser */
  theme?: 'light' | 'dark';
  /** after every change. substituted: the chosen model could not be shown, or 'later': it must be downloaded first */
  onState?: (state: State, substituted: boolean | 'later') => void;
  onLanguage?: (language: string, title: string) => void;
  /** called with a choice that may be stored */
  onChoice?: (name: 'language' | 'theme', value: string) => void;
  /** starts the worker, or an object that replaces it */
  start: () => WorkerLike;
  /** the answer to `show` for the initial state: see firstAnswer.ts */
  first?: Promise<string>;
  /** the input of the program, which becomes the model PROGRAM_MODEL */
  programModel?: ProgramInput | null;
  /** called after a model was read; returns the problem if the options do not fit the model */
  refuses?: (about: About) => string | null;
  /** true if the instrument is a part of another page */
  embedded?: boolean;
  /** models of the menu whose files are available */
  models?: readonly string[];
};

const sheetOf = (text: string) => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(text);
  return sheet;
};
const colours = `:host([data-theme='light']) { ${customProperties('light')} color-scheme: light }
:host([data-theme='dark']) { ${customProperties('dark')} color-scheme: dark }`;

/** `styles`: additional style sheets, which come last. */
export function mount(
  element: HTMLElement,
  options: MountOptions,
  Root: ComponentType<{ host: HTMLElement }> = App,
  styles: string[] = [],
) {
  const host = document.createElement('div');
  const root = host.attachShadow({ mode: 'open' });
  const last = styles.map(sheetOf);
  let sheets = [colours, ...parts].map(sheetOf);
  root.adoptedStyleSheets = [...sheets, ...last];
  const added = new Set();
  /** Adds the style sheet of a part that is loaded later. */
  const addStyles = (text: string) => {
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
    update: (patch: Partial<State> | string) =>
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
