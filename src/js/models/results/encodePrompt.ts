// Encodes a prompt that may be the text of a chat.

import type { Transformer } from '../transformer.ts';

/**
 * Drops one of two equal tokens at the beginning, which a chat template has written and the tokenizer has added again.
 */
export function encodePrompt(model: Transformer, text: string): number[] {
  const { ids } = model.encode(text);
  const begin = model.chatTemplates?.begin;
  const isTwice = begin && text.startsWith(begin) && ids.length > 1 && ids[0] === ids[1];
  return isTwice ? ids.slice(1) : [...ids];
}
