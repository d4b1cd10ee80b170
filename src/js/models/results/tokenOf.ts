// The token of an id as encode() returns it.

import type { TokenizerLike } from './textMethods.ts';

/** Returns the token as in encode(). A tokenizer that does not tell it decodes the id. Without a tokenizer it is ''. */
export function tokenOf(tokenizer: TokenizerLike | undefined, id: number) {
  const own = tokenizer as (TokenizerLike & { tokenOf?: (id: number) => string | undefined }) | undefined;
  return own?.tokenOf?.(id) ?? own?.decode([id]) ?? '';
}
