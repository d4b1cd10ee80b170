// Opens the page in windows of usual sizes.

import { OPENING } from '../../web/model/state.ts';
import { openAt } from '../support/page.js';

/** Heights of windows by their widths. @type {Record<number, number>} */
export const HEIGHTS = {
  2560: 1440,
  1920: 1080,
  1440: 900,
  1280: 800,
  1024: 768,
  900: 700,
  768: 1024,
  700: 900,
  600: 960,
  560: 800,
  360: 740,
};

/** Opens the page at an address, in English. @param {string} hash @param {number} width */
export const open = (hash, width, options = {}) =>
  openAt(hash, { viewport: { width, height: HEIGHTS[width] }, locale: 'en-GB', ...options });

/** Parts of an address, which pin a run. */
export const PINNED_OPENING = `pinned=${encodeURIComponent(new URLSearchParams({ text: OPENING }).toString())}`;
export const PINNED = `pinned=${encodeURIComponent('text=To the last')}`;
