// Learns a byte-level BPE vocabulary from texts. Repeatedly, the most frequent pair of adjacent pieces becomes a new
// piece. The same texts give the same vocabulary.
//
// Sennrich et al., "Neural Machine Translation of Rare Words with Subword Units", 2016; bytes as in GPT-2.

import { AlignedText } from '../../js/text/aligned.ts';
import { byteChars } from '../../js/text/bytelevel.ts';
import { Fields } from '../../js/text/fields.ts';
import { readSplitter } from '../../js/text/splitters.ts';

/** the pieces of a word so far, and its count */
export type Word = { signs: string[]; count: number };

/** The token at the beginning of every chapter. */
export const START = '<|endoftext|>';
const LEVEL = { type: 'ByteLevel', add_prefix_space: false, trim_offsets: false, use_regex: true };

function countWords(texts: readonly string[]): Word[] {
  const split = readSplitter(new Fields(LEVEL, 'pre_tokenizer'));
  const counts: Map<string, number> = new Map();
  for (const text of texts)
    for (const { text: word } of split(new AlignedText(text))) counts.set(word, (counts.get(word) ?? 0) + 1);
  return Array.from(counts, ([word, count]) => ({ signs: [...word], count }));
}

/** The count of each pair of adjacent pieces, and the words that contain the pair. */
class Pairs {
  #counts: Map<string, number> = new Map();
  #words: Map<string, Set<Word>> = new Map();

  /** Adds or subtracts the pairs of a word. */
  add(word: Word, sign: 1 | -1) {
    for (let i = 0; i + 1 < word.signs.length; i++) {
      const pair = `${word.signs[i]} ${word.signs[i + 1]}`;
      this.#counts.set(pair, (this.#counts.get(pair) ?? 0) + sign * word.count);
      const words = this.#words.get(pair);
      if (words) words.add(word);
      else this.#words.set(pair, new Set([word]));
    }
  }

  /** Returns the most frequent pair, or the first in the order of their text if several are equally frequent. */
  most() {
    let [best, most] = ['', 0];
    for (const [pair, count] of this.#counts)
      if (count > most || (count === most && count > 0 && pair < best)) [best, most] = [pair, count];
    return best;
  }

  wordsOf(pair: string) {
    return [...(this.#words.get(pair) ?? [])];
  }

  delete(pair: string) {
    this.#counts.delete(pair);
    this.#words.delete(pair);
  }
}

function join(signs: string[], left: string, right: string) {
  const joined: string[] = [];
  for (let i = 0; i < signs.length; i++) {
    const isPair = signs[i] === left && signs[i + 1] === right;
    joined.push(isPair ? left + right : signs[i]);
    if (isPair) i++;
  }
  return joined;
}

/**
 * @param size of the vocabulary, including the 256 bytes and the token before a chapter
 * @returns the pairs in the order in which they are merged, as "left right"
 */
export function learnMerges(texts: readonly string[], size: number): string[] {
  const words = countWords(texts);
  const pairs = new Pairs();
  for (const word of words) pairs.add(word, 1);
  const merges: string[] = [];
  while (merges.length < size - 257) {
    const pair = pairs.most();
    if (!pair) break;
    const [left, right] = pair.split(' ');
    for (const word of pairs.wordsOf(pair)) {
      pairs.add(word, -1);
      word.signs = join(word.signs, left, right);
      pairs.add(word, 1);
    }
    pairs.delete(pair);
    merges.push(pair);
  }
  return merges;
}

/** Returns the vocabulary as a tokenizer.json of Hugging Face: bytes, merges and the token before a chapter. */
export function makeTokenizer(merges: readonly string[]) {
  const pieces = [...byteChars(), ...merges.map((pair) => pair.replace(' ', ''))];
  const start = { id: pieces.length, content: START, single_word: false, lstrip: false, rstrip: false };
  return {
    version: '1.0',
    truncation: null,
    padding: null,
    added_tokens: [{ ...start, normalized: false, special: true }],
    normalizer: null,
    pre_tokenizer: LEVEL,
    post_processor: LEVEL,
    decoder: LEVEL,
    model: {
      type: 'BPE',
      dropout: null,
      unk_token: null,
      continuing_subword_prefix: null,
      end_of_word_suffix: null,
      fuse_unk: false,
      byte_fallback: false,
      ignore_merges: false,
      vocab: Object.fromEntries(pieces.map((piece, id) => [piece, id])),
      merges,
    },
  };
}
