// The text of tokens, by their ids.

/**
 * The members of a Transformer that know its tokens.
 * @typedef {object} NamedModel
 * @property {object | undefined} [tokenizer]
 * @property {(text: string) => { ids: readonly number[] }} [encode]
 */
/**
 * @typedef {{ decode?: (ids: readonly number[], options?: { skipSpecial?: boolean }) => string,
 *   tokenOf?: (id: number) => string | undefined }} TokenReader
 */

/**
 * Returns a function from an id to its text. Each id is named once.
 * @param {NamedModel} model
 * @param {(id: number) => string} [names] default: by the tokenizer; without one, the numbers
 */
export function tokenNames({ tokenizer }, names = tokenizer ? (id) => textOf(tokenizer, id) : String) {
  /** @type {Map<number, string>} */
  const known = new Map();
  return (/** @type {number} */ id) => {
    const name = known.get(id) ?? String(names(id));
    known.set(id, name);
    return name;
  };
}

/** @param {TokenReader} tokenizer @param {number} id */
function textOf(tokenizer, id) {
  const token = tokenizer.tokenOf?.(id);
  // decode drops the space of the first token of a text, and the mark of a word's other parts.
  if (token?.startsWith('▁')) return token.replaceAll('▁', ' ');
  if (token?.startsWith('##')) return token;
  const text = tokenizer.decode?.([id], { skipSpecial: false }) ?? '';
  // A token may be a part of a character.
  return text === '' || text.includes('\ufffd') ? (token ?? String(id)) : text;
}
