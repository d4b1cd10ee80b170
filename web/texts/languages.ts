// The languages of the page. English is included, and other languages are loaded when they are chosen. A test checks
// that each language has every text.

import { strings as en } from './en.ts';

export type Strings = typeof en;
export type Language = 'en' | 'zh';

/** The texts of each language that has been loaded. */
export const LANGUAGES = { en } as Record<Language, Strings>;

const SOURCES: Record<Language, () => Promise<{ strings: Strings }>> = {
  en: async () => ({ strings: en }),
  zh: () => import('./zh.ts'),
};

export async function loadLanguage(name: Language) {
  LANGUAGES[name] ??= (await SOURCES[name]()).strings;
}

/** `preferred`: tags such as those of navigator.languages. */
export const languageFor = (preferred: readonly string[]): Language =>
  (preferred.map((tag) => tag.slice(0, 2).toLowerCase()).find((tag) => tag in SOURCES) as Language | undefined) ?? 'en';
