// The WordPiece model splits a word greedily: it repeatedly takes the longest piece that matches. A word that cannot be
// split completely is one unknown token.

import { fieldError } from './fields.js';
import { PieceTable } from './pieceTable.js';
import { MAX_WORD_EXPECTED, MAX_WORD_LENGTH, Trie } from './trie.js';
import { readPiece, readVocabulary } from './vocabulary.js';

/** @import { Fields } from './fields.js' */
/** @import { Model } from './vocabulary.js' */

/**
 * Maximum length of words that are split by a hash table. Longer words are split by a trie, which takes fewer steps.
 */
const MAX_SHORT = 32;
/**
 * Number of searches in the Map of the vocabulary before the hash table is made. They take about as long as making the
 * table.
 */
const FEW = 2000;
/** Maximum number of words whose pieces are cached. */
const MAX_CACHED = 20_000;

/**
 * Finds the longest piece at a position of a word, among the pieces with a prefix. The prefix is not part of the word.
 */
class Finder {
  #ids;
  #prefix;
  #most;
  #searches = 0;
  /** @type {PieceTable | undefined} */
  #table;
  /** Made when a long word occurs. @type {Trie | undefined} */
  #trie;

  /** @param {Map<string, number>} ids @param {string} prefix @param {number} most length of the longest piece */
  constructor(ids, prefix, most) {
    this.#ids = ids;
    this.#prefix = prefix;
    this.#most = most;
    /** End of the piece that longest() found last. */
    this.end = 0;
  }

  /**
   * Returns the id of the longest piece and sets `end`. Returns −1 if there is none.
   * @param {string} word
   * @param {number} at
   */
  longest(word, at) {
    if (word.length > MAX_SHORT) return this.#longestByTrie(word, at);
    if (this.#searches < FEW) return this.#longestByMap(word, at);
    this.#table ??= this.#makeTable();
    const id = this.#table.longest(word, at);
    this.end = at + this.#table.length;
    return id;
  }

  /** @param {string} word @param {number} at */
  #longestByMap(word, at) {
    this.#searches++;
    for (let end = Math.min(word.length, at + this.#most); end > at; end--) {
      const id = this.#ids.get(this.#prefix + word.slice(at, end));
      if (id === undefined) continue;
      this.end = end;
      return id;
    }
    return -1;
  }

  #makeTable() {
    const prefix = this.#prefix;
    const table = new PieceTable(this.#ids.size);
    this.#ids.forEach((id, piece) => {
      if (piece.startsWith(prefix)) table.add(prefix ? piece.slice(prefix.length) : piece, id);
    });
    return table;
  }

  /** @param {string} word @param {number} at */
  #longestByTrie(word, at) {
    const prefix = this.#prefix;
    const pieces = () => Array.from(this.#ids.keys(), (piece) => (piece.startsWith(prefix) ? piece : prefix));
    this.#trie ??= new Trie(pieces().map((piece) => piece.slice(prefix.length)));
    const { word: index, end } = this.#trie.longest(word, at);
    this.end = end;
    return index < 0 ? -1 : Number(this.#ids.get(prefix + word.slice(at, end)));
  }
}

/** @param {Fields} fields @returns {Model} */
export function readWordPiece(fields) {
  const { ids, texts } = readVocabulary(fields);
  const unknown = readPiece(fields, 'unk_token', ids);
  if (unknown === null) throw fields.error('unk_token', 'a piece of the vocabulary');
  const prefix = fields.string('continuing_subword_prefix', '##');
  const most = fields.integer('max_input_chars_per_word', { fallback: 100 });
  let longest = '';
  ids.forEach((_, piece) => {
    if (piece.length > longest.length) longest = piece;
  });
  if (longest.length > MAX_WORD_LENGTH) throw fieldError(fields.pathOf('vocab'), longest, MAX_WORD_EXPECTED);
  const initial = new Finder(ids, '', longest.length);
  const continuing = prefix ? new Finder(ids, prefix, longest.length) : initial;

  /**
   * Returns the id, begin and end of each piece, or null if the word cannot be split completely.
   * @param {string} word
   */
  function split(word) {
    if (isLonger(word, most)) return null;
    /** @type {number[]} */
    const pieces = [];
    for (let at = 0; at < word.length; ) {
      const finder = at === 0 ? initial : continuing;
      const id = finder.longest(word, at);
      if (id < 0) return null;
      pieces.push(id, at, finder.end);
      at = finder.end;
    }
    return pieces;
  }

  /** @type {Map<string, number[] | null>} */
  const cache = new Map();
  return {
    ids,
    texts,
    pieces(word, found) {
      let pieces = cache.get(word);
      if (pieces === undefined) {
        pieces = split(word);
        if (cache.size === MAX_CACHED) cache.clear();
        if (word.length <= MAX_SHORT) cache.set(word, pieces);
      }
      if (!pieces) return found(unknown, 0, word.length);
      for (let i = 0; i < pieces.length; i += 3) found(pieces[i], pieces[i + 1], pieces[i + 2]);
    },
  };
}

/** Returns true if a word has more than `most` characters. @param {string} word @param {number} most */
const isLonger = (word, most) => word.length > most && Array.from(word).length > most;
