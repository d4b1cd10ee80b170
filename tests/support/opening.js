// The text that the page begins with: its tokens, and the place whose token is the guess.

import { readFileSync } from 'node:fs';
import { copiedFrom } from '../../src/build/demo/copying.js';
import { openTokenizer } from '../../src/js/text/tokenizer.js';
import { OPENING } from '../../web/store/state.js';

const file = new URL('../../web/demo/tokenizer.json', import.meta.url);
const tokenizer = openTokenizer(readFileSync(file, 'utf8'));
const ids = [...tokenizer.encode(OPENING).ids];

export const TOKENS = ids.length;
export const LAST = TOKENS - 1;
/** The place that the guess is copied from. */
export const FROM = copiedFrom(ids);
export const NAMES = ids.map((id) => tokenizer.decode([id]).trim());
export const GUESS = NAMES[FROM];
/** The opening with two other words at that place. */
export const LONGER = OPENING.replace(` ${GUESS}`, ' white man');

/** The name as it is announced: with its position if it occurs more than once. @param {number} t */
export const nameOf = (t) => (NAMES.filter((name) => name === NAMES[t]).length > 1 ? `${NAMES[t]} (${t})` : NAMES[t]);
