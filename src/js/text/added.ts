// Finds added tokens, such as [MASK] or <|endoftext|>, in a text before it is split into words.

import type { AlignedText } from './aligned.ts';
import type { Fields } from './fields.ts';
import type { Normalizer } from './normalizers.ts';
import { Search } from './search.ts';
import { MAX_WORD_LENGTH } from './trie.ts';
import { MAX_ID } from './vocabulary.ts';

/** single: matches only whole words; left, right: includes the spaces before or after it */
export type AddedToken = {
  id: number;
  content: string;
  special: boolean;
  normalized: boolean;
  single: boolean;
  left: boolean;
  right: boolean;
};
/** token: null for the text between added tokens */
export type Section = { text: AlignedText; token: AddedToken | null };

const WORD_BEFORE = /[\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\p{Join_Control}]$/u;
const WORD_AFTER = /^[\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\p{Join_Control}]/u;
const SPACE = /\p{White_Space}/u;

export function readAddedTokens(file: Fields): AddedToken[] {
  if (file.get('added_tokens') === null) return [];
  return file.objects('added_tokens').map((fields) => {
    const content = fields.string('content');
    if (content.length > MAX_WORD_LENGTH) throw fields.error('content', `at most ${MAX_WORD_LENGTH} characters`);
    const special = fields.boolean('special', false);
    return {
      id: fields.integer('id', { most: MAX_ID }),
      content,
      special,
      normalized: fields.boolean('normalized', !special),
      single: fields.boolean('single_word', false),
      left: fields.boolean('lstrip', false),
      right: fields.boolean('rstrip', false),
    };
  });
}

/** Returns true if a letter is next to a range. Two code units are tested, because a letter may be a surrogate pair. */
const isInWord = (text: string, begin: number, end: number) =>
  WORD_BEFORE.test(text.slice(Math.max(0, begin - 2), begin)) || WORD_AFTER.test(text.slice(end, end + 2));

/**
 * Finds the end of spaces from an index on. Looks at each once, because the spaces after a token may be tokens
 * themselves.
 */
function skipper(chars: string) {
  let [first, last] = [0, 0];
  return (at: number) => {
    if (at >= first && at < last) return last;
    for ([first, last] = [at, at]; last < chars.length && SPACE.test(chars[last]); ) last++;
    return last;
  };
}

function splitterAt(
  tokens: AddedToken[],
  normalize: (content: string) => string = (content) => content,
): (text: AlignedText) => Section[] {
  // Search returns the last of tokens that are equal after normalization, so the list is reversed and special tokens
  // are put last: the first special token has priority, or else the first token.
  const ordered = [...tokens].reverse().sort((a, b) => Number(a.special) - Number(b.special));
  const named = ordered.map((token) => ({ token, name: normalize(token.content) })).filter(({ name }) => name !== '');
  if (named.length === 0) return (text) => [{ text, token: null }];
  const search = new Search(named.map(({ name }) => name));

  return (text) => {
    const chars = text.text;
    const words = search.longest(chars);
    if (!words) return chars ? [{ text, token: null }] : [];
    const sections: Section[] = [];
    const afterSpaces = skipper(chars);
    let done = 0;
    for (let at = 0; at < chars.length; ) {
      if (words[at] < 0) {
        at++;
        continue;
      }
      const { token, name } = named[words[at]];
      let begin = at;
      let end = at + name.length;
      at = end;
      if (token.single && isInWord(chars, begin, end)) continue;
      while (token.left && begin > done && SPACE.test(chars[begin - 1])) begin--;
      if (token.right) end = afterSpaces(end);
      // The previous token may already include the spaces before this one.
      if (token.left) begin = Math.max(begin, done);
      if (begin >= end) continue;
      if (done < begin) sections.push({ text: text.slice(done, begin), token: null });
      sections.push({ text: text.slice(begin, end), token });
      done = end;
    }
    if (done < chars.length) sections.push({ text: text.slice(done, chars.length), token: null });
    return sections;
  };
}

/** Splits a text into added tokens and the normalized text between them. */
export function sectionsOf(
  tokens: AddedToken[],
  normalize: Normalizer,
  normalizeContent: (text: string) => string,
): (text: AlignedText) => Section[] {
  // Tokens with normalized: false match in the original text, all others in the normalized text.
  const raw = splitterAt(tokens.filter(({ normalized }) => !normalized));
  const normal = splitterAt(
    tokens.filter(({ normalized }) => normalized),
    normalizeContent,
  );
  return (text) => raw(text).flatMap((section) => (section.token ? [section] : normal(normalize(section.text))));
}
