// The Unigram model splits a word into the pieces with the largest sum of scores, log probabilities, by the Viterbi
// algorithm.

import { HeadlightError } from '../check/errors.ts';
import { quote } from '../check/quote.ts';
import { type Fields, fieldError } from './fields.ts';
import { MAX_WORD_EXPECTED, MAX_WORD_LENGTH, Trie } from './trie.ts';
import { byteFallback, type Model } from './vocabulary.ts';

/** Difference between the score of the least likely piece and that of an unknown character. */
const UNKNOWN_COST = 10;

function readPieces(fields: Fields) {
  const pieces: string[] = [];
  const scores = fields.list('vocab').map((entry, i) => {
    const [piece, score] = Array.isArray(entry) && entry.length === 2 ? entry : [];
    if (typeof piece !== 'string' || !Number.isFinite(score))
      throw fieldError(`${fields.pathOf('vocab')}[${i}]`, entry, 'a piece and its score');
    if (piece.length > MAX_WORD_LENGTH) throw fieldError(`${fields.pathOf('vocab')}[${i}]`, piece, MAX_WORD_EXPECTED);
    pieces.push(piece);
    return Number(score);
  });
  if (pieces.length === 0) throw fields.error('vocab', 'at least one piece');
  return { pieces, scores };
}

export function readUnigram(fields: Fields): Model {
  const { pieces, scores } = readPieces(fields);
  const ids = new Map(pieces.map((piece, id) => [piece, id]));
  const unknown = fields.get('unk_id') === null ? -1 : fields.integer('unk_id', { most: pieces.length - 1 });
  const bytes = fields.boolean('byte_fallback', false) ? byteFallback(ids) : () => null;
  const unknownScore = scores.reduce((least, score) => Math.min(least, score), Infinity) - UNKNOWN_COST;
  const trie = new Trie(pieces);

  /** Returns the last piece of the best path to each position, and the position at which it begins. */
  function bestPaths(word: string) {
    const score = new Float64Array(word.length + 1).fill(-Infinity);
    const from = new Int32Array(word.length + 1);
    const piece = new Int32Array(word.length + 1);
    score[0] = 0;
    for (let at = 0; at < word.length; ) {
      const next = at + (Number(word.codePointAt(at)) > 0xffff ? 2 : 1);
      const update = (end: number, id: number, cost: number) => {
        if (!(score[at] + cost > score[end])) return;
        score[end] = score[at] + cost;
        from[end] = at;
        piece[end] = id;
      };
      let single = false;
      trie.each(word, at, (id, end) => {
        update(end, id, scores[id]);
        single ||= end === next;
      });
      if (!single) update(next, unknown, unknownScore);
      at = next;
    }
    return { from, piece };
  }

  return {
    ids,
    texts: pieces,
    pieces(word, found) {
      const { from, piece } = bestPaths(word);
      const path: [id: number, begin: number, end: number][] = [];
      for (let end = word.length; end > 0; ) {
        const [begin, id] = [from[end], piece[end]];
        const last = path.at(-1);
        // Consecutive unknown characters are merged to one piece.
        if (last && last[0] === unknown && id === unknown) last[1] = begin;
        else path.push([id, begin, end]);
        end = begin;
      }
      for (const [id, begin, end] of path.reverse()) {
        const text = word.slice(begin, end);
        const known = id === unknown ? ids.get(text) : id;
        const fallback = known === undefined ? bytes(text) : [known];
        if (!fallback && unknown < 0) throw unknownError(text);
        if (fallback) for (const piece of fallback) found(piece, begin, end);
        else found(unknown, begin, end, true);
      }
    },
  };
}

const unknownError = (text: string) =>
  new HeadlightError('ARGUMENT', `encode: the vocabulary has no piece for ${quote(text)}`, {
    parameter: 'text',
    got: text,
  });
