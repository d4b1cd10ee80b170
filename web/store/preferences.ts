// Language and theme. The browser's settings determine them unless the visitor has chosen others.

import { computed, effect, signal } from '@preact/signals';
import { LANGUAGES, type Language, languageFor, loadLanguage } from '../texts/languages.ts';
import { PALETTE, type Theme } from '../ui/palette.ts';
import { readOnly } from './readOnly.ts';
import type { SessionOptions } from './sessionOptions.ts';

const isTheme = (name: unknown): name is Theme => typeof name === 'string' && Object.hasOwn(PALETTE, name);

export function createPreferences({
  language: chosen,
  theme: given,
  onLanguage,
  onChoice,
}: Pick<SessionOptions, 'language' | 'theme' | 'onLanguage' | 'onChoice'>) {
  // A stored theme may be one that this version of the page does not have.
  const chosenTheme = isTheme(given) ? given : undefined;
  const preferred = languageFor([chosen ?? '', ...navigator.languages]);
  const language = signal((preferred in LANGUAGES ? preferred : 'en') as Language);
  const words = computed(() => LANGUAGES[language.value]);
  const load = (name: Language) =>
    loadLanguage(name).then(() => {
      language.value = name;
    });

  const dark = matchMedia('(prefers-color-scheme: dark)');
  const systemTheme = () => (dark.matches ? 'dark' : 'light') as Theme;
  const theme = signal(chosenTheme ?? systemTheme());
  let ownTheme = chosenTheme !== undefined;
  const followSystem = () => {
    if (!ownTheme) theme.value = systemTheme();
  };
  dark.addEventListener('change', followSystem);
  const stopTelling = effect(() => onLanguage?.(language.value, words.value.title));

  return {
    words,
    language: readOnly(language),
    /** Settled when the preferred language is loaded. If it cannot be loaded, the page stays English. */
    languageReady: preferred === language.peek() ? Promise.resolve() : load(preferred).catch(() => {}),
    setLanguage(name: Language) {
      onChoice?.('language', name);
      if (name in LANGUAGES) language.value = name;
      else load(name);
    },
    theme: readOnly(theme),
    setTheme(name: Theme) {
      ownTheme = true;
      theme.value = name;
      onChoice?.('theme', name);
    },
    /** Shows a theme without choosing it, for example to print the page. */
    showTheme(name: Theme) {
      theme.value = name;
    },
    stop() {
      stopTelling();
      dark.removeEventListener('change', followSystem);
    },
  };
}
export type Preferences = ReturnType<typeof createPreferences>;
