// WordPiece: splits a word greedily, each time at the longest piece that matches. A word without a complete split is
// one unknown token.

import { fieldError } from './fields.js';
import { MAX_WORD_EXPECTED, MAX_WORD_LENGTH, Trie } from './trie.js';
import { readPiece, readVocabulary } from './vocabulary.js';

/** @import { Fields } from './fields.js' */
/** @import { Model } from './vocabulary.js' */

/** @param {Fields} fields @returns {Model} */
export function readWordPiece(fields) {
  const ids = readVocabulary(fields);
  const unknown = readPiece(fields, 'unk_token', ids);
  if (unknown === null) throw fields.error('unk_token', 'a piece of the vocabulary');
  const prefix = fields.string('continuing_subword_prefix', '##');
  const most = fields.integer('max_input_chars_per_word', { fallback: 100 });
  const long = [...ids.keys()].find((piece) => piece.length > MAX_WORD_LENGTH);
  if (long !== undefined) throw fieldError(fields.pathOf('vocab'), long, MAX_WORD_EXPECTED);
  const idsInOrder = [...ids.values()];
  const initial = new Trie([...ids.keys()]);
  const continuing = prefix
    ? new Trie(Array.from(ids.keys(), (piece) => (piece.startsWith(prefix) ? piece.slice(prefix.length) : '')))
    : initial;
  return {
    ids,
    pieces(word, found) {
      /** @type {[id: number, begin: number, end: number][]} */
      const pieces = [];
      if (isLonger(word, most)) return found(unknown, 0, word.length);
      for (let at = 0; at < word.length; ) {
        const { word: piece, end } = (at === 0 ? initial : continuing).longest(word, at);
        if (piece < 0) return found(unknown, 0, word.length);
        pieces.push([idsInOrder[piece], at, end]);
        at = end;
      }
      for (const piece of pieces) found(...piece);
    },
  };
}

/** True if a word has more than `most` characters. @param {string} word @param {number} most */
const isLonger = (word, most) => word.length > most && Array.from(word).length > most;
