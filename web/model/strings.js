// The languages of the page. Both have every text: a test compares their keys.

import { strings as en } from './strings.en.js';
import { strings as zh } from './strings.zh.js';

/** @typedef {typeof en} Strings */
/** @typedef {'en' | 'zh'} Language */

/** @type {Record<Language, Strings>} */
export const LANGUAGES = { en, zh };

/** @param {readonly string[]} preferred as navigator.languages has it @returns {Language} */
export const languageFor = (preferred) =>
  /** @type {Language | undefined} */ (
    preferred.map((tag) => tag.slice(0, 2).toLowerCase()).find((tag) => tag in LANGUAGES)
  ) ?? 'en';
