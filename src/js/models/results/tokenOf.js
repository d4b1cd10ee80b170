// The token of an id as encode() returns it.

/** @import { TokenizerLike } from './textMethods.js' */

/**
 * Returns the token as in encode(). A tokenizer that does not tell it decodes the id. Without a tokenizer it is ''.
 * @param {TokenizerLike | undefined} tokenizer
 * @param {number} id
 */
export function tokenOf(tokenizer, id) {
  const own = /** @type {(TokenizerLike & { tokenOf?: (id: number) => string | undefined }) | undefined} */ (tokenizer);
  return own?.tokenOf?.(id) ?? own?.decode([id]) ?? '';
}
