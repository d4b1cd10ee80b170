// WordPiece repeatedly takes the longest piece that matches. A word that cannot be split completely is one unknown
// token.

import { type Fields, fieldError } from './fields.ts';
import { PieceTable } from './pieceTable.ts';
import { MAX_WORD_EXPECTED, MAX_WORD_LENGTH, Trie } from './trie.ts';
import { type Model, readPiece, readVocabulary } from './vocabulary.ts';

/** Longer words are split by a trie, which takes fewer steps than a hash table. */
const MAX_SHORT = 32;
/** Searches in the Map of the vocabulary before the hash table is made, which takes about as long. */
const FEW = 2000;
/** Maximum number of words whose pieces are cached. */
const MAX_CACHED = 20_000;

/** Finds the longest piece at a position of a word, among the pieces with a prefix, which is not part of the word. */
class Finder {
  /** End of the piece that longest() found last. */
  declare end: number;

  #ids: Map<string, number>;
  #prefix: string;
  #most: number;
  #searches = 0;
  #table: PieceTable | undefined;
  /** Made when a long word occurs. */
  #trie: Trie | undefined;

  /** most: length of the longest piece */
  constructor(ids: Map<string, number>, prefix: string, most: number) {
    this.#ids = ids;
    this.#prefix = prefix;
    this.#most = most;
    this.end = 0;
  }

  /** Returns the id of the longest piece and sets `end`. Returns −1 if there is none. */
  longest(word: string, at: number) {
    if (word.length > MAX_SHORT) return this.#longestByTrie(word, at);
    if (this.#searches < FEW) return this.#longestByMap(word, at);
    this.#table ??= this.#makeTable();
    const id = this.#table.longest(word, at);
    this.end = at + this.#table.length;
    return id;
  }

  #longestByMap(word: string, at: number) {
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

  #longestByTrie(word: string, at: number) {
    const prefix = this.#prefix;
    const pieces = () => Array.from(this.#ids.keys(), (piece) => (piece.startsWith(prefix) ? piece : prefix));
    this.#trie ??= new Trie(pieces().map((piece) => piece.slice(prefix.length)));
    const { word: index, end } = this.#trie.longest(word, at);
    this.end = end;
    return index < 0 ? -1 : Number(this.#ids.get(prefix + word.slice(at, end)));
  }
}

export function readWordPiece(fields: Fields): Model {
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

  /** Returns the id, begin and end of each piece, or null if the word cannot be split completely. */
  function split(word: string) {
    if (isLonger(word, most)) return null;
    const pieces: number[] = [];
    for (let at = 0; at < word.length; ) {
      const finder = at === 0 ? initial : continuing;
      const id = finder.longest(word, at);
      if (id < 0) return null;
      pieces.push(id, at, finder.end);
      at = finder.end;
    }
    return pieces;
  }

  const cache: Map<string, number[] | null> = new Map();
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

/** Returns true if a word has more than `most` characters. */
const isLonger = (word: string, most: number) => word.length > most && Array.from(word).length > most;
