// WordPiece: the longest piece that a word begins with, then the longest that its rest begins with, and so on. A word
// that does not come out even is unknown as a whole.

import { fieldError } from './fields.js';
import { LONGEST, LONGEST_EXPECTED, Trie } from './trie.js';
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
  const long = [...ids.keys()].find((piece) => piece.length > LONGEST);
  if (long !== undefined) throw fieldError(fields.pathOf('vocab'), long, LONGEST_EXPECTED);
  const numbers = [...ids.values()];
  const beginnings = new Trie([...ids.keys()]);
  const rests = new Trie(
    Array.from(ids.keys(), (piece) => (piece.startsWith(prefix) ? piece.slice(prefix.length) : '')),
  );
  return {
    ids,
    pieces(word, found) {
      /** @type {[id: number, begin: number, end: number][]} */
      const pieces = [];
      if (isLonger(word, most)) return found(unknown, 0, word.length);
      for (let at = 0; at < word.length; ) {
        const { word: piece, end } = (at === 0 ? beginnings : rests).longest(word, at);
        if (piece < 0) return found(unknown, 0, word.length);
        pieces.push([numbers[piece], at, end]);
        at = end;
      }
      for (const piece of pieces) found(...piece);
    },
  };
}

/** Whether it has more characters than that. @param {string} word @param {number} most */
const isLonger = (word, most) => word.length > most && Array.from(word).length > most;
