// Byte-pair encoding: of a word's characters, the adjacent pair with the lowest rank is merged until no pair has a
// rank.

import { type Fields, fieldError } from './fields.ts';
import { mergePairs, type PieceList } from './merge.ts';
import { PairTable } from './pairTable.ts';
import { PieceTable } from './pieceTable.ts';
import { byteFallback, type Model, readPiece, readVocabulary } from './vocabulary.ts';

/** Maximum number of words whose pieces are cached, and maximum length of such a word. */
const MAX_CACHED = 20_000;
const MAX_CACHED_LENGTH = 64;

/** Returns the two pieces of a merge, or undefined if the entry does not consist of two pieces. */
function pairOf(entry: unknown) {
  if (typeof entry === 'string') {
    const at = entry.indexOf(' ');
    return at < 0 || entry.includes(' ', at + 1) ? undefined : [entry.slice(0, at), entry.slice(at + 1)];
  }
  const isPair = Array.isArray(entry) && entry.length === 2;
  return isPair && typeof entry[0] === 'string' && typeof entry[1] === 'string' ? entry : undefined;
}

function readMerges(fields: Fields, ids: Map<string, number>, prefixLength: number) {
  const merges = fields.list('merges');
  /** The rank of every pair. The pair with the lowest rank is merged first. */
  const ranks = new PairTable(merges.length);
  const pieces = new PieceTable(ids.size);
  ids.forEach((id, piece) => pieces.add(piece, id));
  const read = (entry: unknown, rank: number) => {
    // Some converters copied the header line of merges.txt into the list.
    if (typeof entry === 'string' && entry.startsWith('#version')) return -1;
    const pair = pairOf(entry);
    if (!pair) throw fieldError(`${fields.pathOf('merges')}[${rank}]`, entry, 'two pieces');
    const left = pieces.find(pair[0]);
    const right = pieces.find(pair[1]);
    const both = pieces.find(pair[0] + (prefixLength > 0 ? pair[1].slice(prefixLength) : pair[1]));
    if (left < 0 || right < 0 || both < 0)
      throw fieldError(
        `${fields.pathOf('merges')}[${rank}]`,
        entry,
        'two pieces of the vocabulary whose concatenation is a piece too',
      );
    ranks.set(left, right, rank);
    return both;
  };
  const merged = new Int32Array(merges.length);
  for (let rank = 0; rank < merges.length; rank++) merged[rank] = read(merges[rank], rank);
  return { ranks, merged };
}

export function readBpe(fields: Fields): Model {
  const { ids, texts } = readVocabulary(fields);
  const prefix = fields.string('continuing_subword_prefix', '');
  const suffix = fields.string('end_of_word_suffix', '');
  const { ranks, merged } = readMerges(fields, ids, prefix.length);
  const unknown = readPiece(fields, 'unk_token', ids);
  const fuse = fields.boolean('fuse_unk', false);
  const bytes = fields.boolean('byte_fallback', false) ? byteFallback(ids) : () => null;
  const ignoreMerges = fields.boolean('ignore_merges', false);
  if (fields.get('dropout')) throw fields.error('dropout', 'no dropout, because BPE dropout is not supported');
  const initialPieces = characterSplitter({ ids, prefix, suffix, unknown, fuse, bytes });
  const pairs = {
    rank: (left: number, right: number) => ranks.get(left, right),
    join: (rank: number) => merged[rank],
  };

  const cache: Map<string, Int32Array> = new Map();
  return {
    ids,
    texts,
    pieces(word, found) {
      const id = ignoreMerges ? ids.get(word) : undefined;
      if (id !== undefined) return found(id, 0, word.length);
      let pieces = cache.get(word);
      if (!pieces) {
        pieces = mergePairs(initialPieces(word), pairs);
        if (cache.size === MAX_CACHED) cache.clear();
        if (word.length <= MAX_CACHED_LENGTH) cache.set(word, pieces);
      }
      for (let i = 0; i < pieces.length; i += 3) found(pieces[i], pieces[i + 1], pieces[i + 2]);
    },
  };
}

/**
 * The pieces before any merge: characters, or their bytes. model: fuse: consecutive unknown characters are one piece.
 */
const characterSplitter =
  ({
    ids,
    prefix,
    suffix,
    unknown,
    fuse,
    bytes,
  }: {
    ids: Map<string, number>;
    prefix: string;
    suffix: string;
    unknown: number | null;
    fuse: boolean;
    bytes: (text: string) => number[] | null;
  }): ((word: string) => PieceList) =>
  (word) => {
    const [id, begin, end]: number[][] = [[], [], []];
    const add = (piece: number, from: number, until: number) => {
      id.push(piece);
      begin.push(from);
      end.push(until);
    };
    /**
     * Unknown characters, added before the next known character, as in Hugging Face's tokenizers, so that pieces of
     * bytes in between come first.
     */
    let pending: number[] | null = null;
    const addPending = () => {
      if (pending && unknown !== null) add(unknown, pending[0], pending[1]);
      pending = null;
    };
    for (let at = 0, next = 0; at < word.length; at = next) {
      next += Number(word.codePointAt(at)) > 0xffff ? 2 : 1;
      const char = (at > 0 ? prefix : '') + word.slice(at, next) + (next === word.length ? suffix : '');
      const known = ids.get(char);
      const fallback = known === undefined ? bytes(char) : null;
      if (known !== undefined) {
        addPending();
        add(known, at, next);
      } else if (fallback) for (const piece of fallback) add(piece, at, next);
      else if (pending && fuse) pending[1] = next;
      else {
        addPending();
        pending = [at, next];
      }
    }
    addPending();
    return { id, begin, end };
  };
