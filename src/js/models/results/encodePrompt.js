// The ids of a prompt that may be the text of a chat.

/** @import { Transformer } from '../transformer.js' */

/**
 * Like encode(), but the token at the beginning is there once: a chat template writes it, and the tokenizer adds it.
 * @param {Transformer} model
 * @param {string} text
 * @returns {number[]}
 */
export function encodePrompt(model, text) {
  const { ids } = model.encode(text);
  const begin = model.chatTemplates?.begin;
  const isTwice = begin && text.startsWith(begin) && ids.length > 1 && ids[0] === ids[1];
  return isTwice ? ids.slice(1) : [...ids];
}
