// The languages of the page. English is included, and other languages are loaded when they are chosen. A test checks
// that each language has every text.

import { strings as en } from './en.js';

/** @typedef {typeof en} Strings */
/** @typedef {'en' | 'zh'} Language */

/** The texts of each language that has been loaded. */
export const LANGUAGES = /** @type {Record<Language, Strings>} */ ({ en });

/** @type {Record<Language, () => Promise<{ strings: Strings }>>} */
const SOURCES = { en: async () => ({ strings: en }), zh: () => import('./zh.js') };

/** @param {Language} name */
export async function loadLanguage(name) {
  LANGUAGES[name] ??= (await SOURCES[name]()).strings;
}

/** @param {readonly string[]} preferred tags such as those of navigator.languages @returns {Language} */
export const languageFor = (preferred) =>
  /** @type {Language | undefined} */ (
    preferred.map((tag) => tag.slice(0, 2).toLowerCase()).find((tag) => tag in SOURCES)
  ) ?? 'en';
