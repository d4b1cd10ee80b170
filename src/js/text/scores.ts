// SentencePiece's BPE: of adjacent pairs, the one whose concatenation has the highest score is merged first, of equal
// ones the leftmost.

import { mergePairs, type PieceList, SHIFT } from './merge.ts';
import { byteFallback, MAX_ID, type Model } from './vocabulary.ts';

/** A character that is no piece has the id CHARACTERS + code point until all pairs are merged. */
const CHARACTERS = MAX_ID + 1;
/** Maximum number of pairs whose merged piece is cached. */
const MAX_PAIRS = 100_000;
/** Maximum number of words whose pieces are cached, and maximum length of such a word. */
const MAX_CACHED = 20_000;
const MAX_CACHED_LENGTH = 64;

/** Returns the rank of each piece. Pieces with the same score have the same rank. */
function ranksOf(scores: ArrayLike<number>) {
  const sorted = Float64Array.from(new Set(Array.from(scores))).sort();
  const ranks = new Map(Array.from(sorted, (score, i) => [score, sorted.length - 1 - i]));
  return Int32Array.from(scores, (score) => Number(ranks.get(score)));
}

export type Pieces = {
  ids: Map<string, number>;
  /** by id */
  texts: readonly string[];
  /** by id */
  scores: ArrayLike<number>;
  /** id for a character that is no piece and whose bytes are no pieces; null if such characters are dropped */
  unknown: number | null;
};

export function scoredModel({ ids, texts, scores, unknown }: Pieces): Model {
  const ranks = ranksOf(scores);
  const bytes = byteFallback(ids);
  const longest = texts.reduce((most, text) => Math.max(most, text.length), 0);
  const textOf = (id: number) => (id < CHARACTERS ? texts[id] : String.fromCodePoint(id - CHARACTERS));

  const joined: Map<number, number> = new Map();
  /** Returns the id of the merged piece of a pair, or −1 if there is none. */
  function join(left: number, right: number) {
    const key = left * SHIFT + right;
    let id = joined.get(key);
    if (id !== undefined) return id;
    const [first, second] = [textOf(left), textOf(right)];
    id = first.length + second.length > longest ? -1 : (ids.get(first + second) ?? -1);
    if (joined.size === MAX_PAIRS) joined.clear();
    joined.set(key, id);
    return id;
  }
  const pairs = {
    rank(left: number, right: number) {
      const id = join(left, right);
      return id < 0 ? -1 : ranks[id];
    },
    join: (_: number, left: number, right: number) => join(left, right),
  };

  function characters(word: string) {
    const pieces: PieceList = { id: [], begin: [], end: [] };
    for (let at = 0, next = 0; at < word.length; at = next) {
      const code = Number(word.codePointAt(at));
      next += code > 0xffff ? 2 : 1;
      pieces.id.push(ids.get(word.slice(at, next)) ?? CHARACTERS + code);
      pieces.begin.push(at);
      pieces.end.push(next);
    }
    return pieces;
  }

  const cache: Map<string, Int32Array> = new Map();
  return {
    ids,
    texts,
    pieces(word, found) {
      let pieces = cache.get(word);
      if (!pieces) {
        pieces = mergePairs(characters(word), pairs);
        if (cache.size === MAX_CACHED) cache.clear();
        if (word.length <= MAX_CACHED_LENGTH) cache.set(word, pieces);
      }
      for (let i = 0; i < pieces.length; i += 3) {
        const [id, begin, end] = [pieces[i], pieces[i + 1], pieces[i + 2]];
        if (id < CHARACTERS) found(id, begin, end);
        else {
          const fallback = bytes(textOf(id)) ?? (unknown === null ? [] : [unknown]);
          for (const piece of fallback) found(piece, begin, end);
        }
      }
    },
  };
}
