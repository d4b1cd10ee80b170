// Finds the text of tokens by their ids.

export type NamedModel = {
  tokenizer?: object | undefined;
  encode?: ((text: string) => { ids: readonly number[] }) | undefined;
  /** why the tokenizer of the model's files is not supported */
  tokenizerProblem?: string | undefined;
};
export type TokenReader = {
  decode?: (ids: readonly number[], options?: { skipSpecial?: boolean }) => string;
  tokenOf?: (id: number) => string | undefined;
};

/**
 * Returns a function from id to text, determined once. names: default: by the tokenizer, or the id in decimal without
 * one.
 */
export function tokenNames(
  { tokenizer }: NamedModel,
  names: (id: number) => string = tokenizer ? (id) => textOf(tokenizer, id) : String,
) {
  const known: Map<number, string> = new Map();
  return (id: number) => {
    const name = known.get(id) ?? String(names(id));
    known.set(id, name);
    return name;
  };
}

function textOf(tokenizer: TokenReader, id: number) {
  const token = tokenizer.tokenOf?.(id);
  // decode drops the space before the first token of a text, and the mark ## of tokens that continue a word.
  if (token?.startsWith('▁')) return token.replaceAll('▁', ' ');
  if (token?.startsWith('##')) return token;
  const text = tokenizer.decode?.([id], { skipSpecial: false }) ?? '';
  // A token may be only some bytes of a character, which decode to U+FFFD.
  return text === '' || text.includes('\ufffd') ? (token ?? String(id)) : text;
}
