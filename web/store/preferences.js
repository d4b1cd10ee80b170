// Language and theme. The browser's settings determine them unless the visitor has chosen others.

import { computed, effect, signal } from '@preact/signals';
import { LANGUAGES, languageFor, loadLanguage } from '../texts/languages.js';
import { PALETTE } from '../ui/palette.js';
import { readOnly } from './readOnly.js';

/** @import { Language } from '../texts/languages.js' */
/** @import { Theme } from '../ui/palette.js' */

/** @param {unknown} name @returns {name is Theme} */
const isTheme = (name) => typeof name === 'string' && Object.hasOwn(PALETTE, name);

/**
 * @param {Pick<import('../entries/mount.jsx').MountOptions, 'language' | 'theme' | 'onLanguage' | 'onChoice'>} options
 */
export function createPreferences({ language: chosen, theme: given, onLanguage, onChoice }) {
  // A stored theme may be one that this version of the page does not have.
  const chosenTheme = isTheme(given) ? given : undefined;
  const preferred = languageFor([chosen ?? '', ...navigator.languages]);
  const language = signal(/** @type {Language} */ (preferred in LANGUAGES ? preferred : 'en'));
  const words = computed(() => LANGUAGES[language.value]);
  const load = (/** @type {Language} */ name) =>
    loadLanguage(name).then(() => {
      language.value = name;
    });

  const dark = matchMedia('(prefers-color-scheme: dark)');
  const systemTheme = () => /** @type {Theme} */ (dark.matches ? 'dark' : 'light');
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
    /** @param {Language} name */
    setLanguage(name) {
      onChoice?.('language', name);
      if (name in LANGUAGES) language.value = name;
      else load(name);
    },
    theme: readOnly(theme),
    /** @param {Theme} name */
    setTheme(name) {
      ownTheme = true;
      theme.value = name;
      onChoice?.('theme', name);
    },
    /** Shows a theme without choosing it, for example to print the page. @param {Theme} name */
    showTheme(name) {
      theme.value = name;
    },
    stop() {
      stopTelling();
      dark.removeEventListener('change', followSystem);
    },
  };
}
/** @typedef {ReturnType<typeof createPreferences>} Preferences */
