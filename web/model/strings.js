// The languages of the page, and the one in use.

import { strings as en } from './strings.en.js';
import { strings as zh } from './strings.zh.js';

/** @import { Strings } from './types.js' */

/** @type {Record<'en' | 'zh', Strings>} */
export const LANGUAGES = { en, zh };

/**
 * @param {readonly string[]} preferred as navigator.languages has it
 * @returns {'en' | 'zh'}
 */
export const languageFor = (preferred) =>
  /** @type {'en' | 'zh' | undefined} */ (
    preferred.map((tag) => tag.slice(0, 2).toLowerCase()).find((tag) => tag in LANGUAGES)
  ) ?? 'en';
