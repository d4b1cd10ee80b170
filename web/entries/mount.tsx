// Puts the instrument into an element, in a shadow root of its own.

import { type ComponentType, render } from 'preact';
import type { State } from '../model/state.ts';
import { SessionContext } from '../store/context.ts';
import { createSession } from '../store/session.ts';
import type { SessionOptions } from '../store/sessionOptions.ts';
import { customProperties } from '../ui/palette.ts';
import { App } from './app.tsx';
import { styles as parts } from './styles.ts';

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
  options: SessionOptions,
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
