// Encodes a prompt that may be the text of a chat.

import type { Transformer } from '../transformer.ts';

/**
 * Returns the ids of a text. If the ids begin with the same token twice, because a chat template has written it and the
 * tokenizer has added it again, one of the two is removed.
 */
export function encodePrompt(model: Transformer, text: string): number[] {
  const { ids } = model.encode(text);
  const begin = model.chatTemplates?.begin;
  const isTwice = begin && text.startsWith(begin) && ids.length > 1 && ids[0] === ids[1];
  return isTwice ? ids.slice(1) : [...ids];
}
