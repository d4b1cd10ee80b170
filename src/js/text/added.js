// Tokens that are found in a text before anything else is done with it, such as [MASK] or <|endoftext|>.

import { Search } from './search.js';
import { LONGEST } from './trie.js';
import { MOST_ID } from './vocabulary.js';

/** @import { AlignedText } from './aligned.js' */
/** @import { Fields } from './fields.js' */
/** @import { Normalizer } from './normalizers.js' */

/**
 * @typedef {{ id: number, content: string, special: boolean, normalized: boolean, single: boolean, left: boolean,
 *   right: boolean }} AddedToken left and right: whether it takes the spaces beside it
 */
/** @typedef {{ text: AlignedText, token: AddedToken | null }} Section of a text: a token, or what is between */

const WORD_BEFORE = /[\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\p{Join_Control}]$/u;
const WORD_AFTER = /^[\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\p{Join_Control}]/u;
const SPACE = /\p{White_Space}/u;

/** @param {Fields} file @returns {AddedToken[]} */
export function readAddedTokens(file) {
  if (file.get('added_tokens') === null) return [];
  return file.objects('added_tokens').map((fields) => {
    const content = fields.string('content');
    if (content.length > LONGEST) throw fields.error('content', `at most ${LONGEST} characters`);
    const special = fields.boolean('special', false);
    return {
      id: fields.integer('id', { most: MOST_ID }),
      content,
      special,
      normalized: fields.boolean('normalized', !special),
      single: fields.boolean('single_word', false),
      left: fields.boolean('lstrip', false),
      right: fields.boolean('rstrip', false),
    };
  });
}

/**
 * Whether a letter is next to a part; one beyond the basic plane takes two units.
 * @param {string} text
 * @param {number} begin
 * @param {number} end
 */
const isInWord = (text, begin, end) =>
  WORD_BEFORE.test(text.slice(Math.max(0, begin - 2), begin)) || WORD_AFTER.test(text.slice(end, end + 2));

/**
 * @param {AddedToken[]} tokens
 * @param {(content: string) => string} [normalize]
 * @returns {(text: AlignedText) => Section[]} divides a text
 */
function finder(tokens, normalize = (content) => content) {
  // Of those that become alike the last would be found; it shall be the first special one, or else the first.
  const last = [...tokens].reverse().sort((a, b) => Number(a.special) - Number(b.special));
  const named = last.map((token) => ({ token, name: normalize(token.content) })).filter(({ name }) => name !== '');
  if (named.length === 0) return (text) => [{ text, token: null }];
  const search = new Search(named.map(({ name }) => name));

  return (text) => {
    const signs = text.text;
    const words = search.longest(signs);
    if (!words) return signs ? [{ text, token: null }] : [];
    /** @type {Section[]} */
    const sections = [];
    let done = 0;
    for (let at = 0; at < signs.length; ) {
      if (words[at] < 0) {
        at++;
        continue;
      }
      const { token, name } = named[words[at]];
      let begin = at;
      let end = at + name.length;
      at = end;
      if (token.single && isInWord(signs, begin, end)) continue;
      while (token.left && begin > done && SPACE.test(signs[begin - 1])) begin--;
      while (token.right && end < signs.length && SPACE.test(signs[end])) end++;
      // Spaces that the token before has taken are no longer there for one that takes those beside it.
      if (token.left) begin = Math.max(begin, done);
      if (begin >= end) continue;
      if (done < begin) sections.push({ text: text.slice(done, begin), token: null });
      sections.push({ text: text.slice(begin, end), token });
      done = end;
    }
    if (done < signs.length) sections.push({ text: text.slice(done, signs.length), token: null });
    return sections;
  };
}

/**
 * Divides a text into the tokens that were added and what is between them, which comes out normalized.
 * @param {AddedToken[]} tokens
 * @param {Normalizer} normalize
 * @param {(text: string) => string} normalizeContent
 * @returns {(text: AlignedText) => Section[]}
 */
export function sectionsOf(tokens, normalize, normalizeContent) {
  // Some are looked for in the text as it is, the others in what the normalizer makes of it.
  const raw = finder(tokens.filter(({ normalized }) => !normalized));
  const normal = finder(
    tokens.filter(({ normalized }) => normalized),
    normalizeContent,
  );
  return (text) => raw(text).flatMap((section) => (section.token ? [section] : normal(normalize(section.text))));
}
