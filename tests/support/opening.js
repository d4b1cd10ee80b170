// The text that the page begins with: its tokens, and the position of the token that the model predicts again.

import { readFileSync } from 'node:fs';
import { copiedFrom } from '../../src/build/demo/copying.ts';
import { openTokenizer } from '../../src/js/text/tokenizer.ts';
import { OPENING } from '../../web/model/state.ts';

const file = new URL('../../web/demo/tokenizer.json', import.meta.url);
const tokenizer = openTokenizer(readFileSync(file, 'utf8'));
const ids = [...tokenizer.encode(OPENING).ids];

export const TOKENS = ids.length;
export const LAST = TOKENS - 1;
/** The position of the token from which the prediction is copied. */
export const FROM = copiedFrom(ids);
export const NAMES = ids.map((id) => tokenizer.decode([id]).trim());
export const GUESS = NAMES[FROM];
/** The text with two other words instead of that token. */
export const LONGER = OPENING.replace(` ${GUESS}`, ' white man');

/**
 * Returns the text of a token as the page announces it to screen readers. If several tokens have this text, the
 * position is added.
 * @param {number} t
 */
export const nameOf = (t) => (NAMES.filter((name) => name === NAMES[t]).length > 1 ? `${NAMES[t]} (${t})` : NAMES[t]);
