// Beam search: continues several texts after one prompt and keeps those with the greatest sum of log-probabilities.
// Follows `_beam_search` of the Python library transformers.

import { findLikeliest } from '../text/sampling.js';
import { fullEnd, limitOf, Pauses, textOf } from './continuedText.js';
import { lastLogits } from './lastLogits.js';
import { reorderRows } from './reorderRows.js';
import { restrictNext } from './restrictNext.js';

/** @import { Edit } from './edits.js' */
/** @import { BeamOptions, Generated, Request } from './generateOptions.js' */
/** @import { ModelInput } from './input.js' */
/** @import { Prompt } from './prompts.js' */
/** @import { Transformer } from './transformer.js' */

/**
 * A text that the search has generated. sum: the sum of the log-probabilities of its tokens; parent: index of the
 * previous beam, of which this text is the continuation.
 * @typedef {{ ids: number[], logProbs: number[], sum: number, parent: number }} Beam
 */
/** @typedef {Beam & { ended: Generated['ended'], score: number }} Ended */
/** @typedef {{ parent: number, id: number, logProb: number, sum: number }} Candidate */

/** Number of tokens after the prompt for which a new cache has memory. It grows if more tokens are generated. */
const INITIAL_ROOM = 64;

/** Replaces logits by log-probabilities, in place. @param {Float32Array} logits */
function logSoftmax(logits) {
  const most = logits[findLikeliest(logits)];
  let total = 0;
  for (let i = 0; i < logits.length; i++) total += Math.exp(logits[i] - most);
  const shift = most + Math.log(total);
  for (let i = 0; i < logits.length; i++) logits[i] -= shift;
  return logits;
}

/**
 * Returns the continuations with the greatest sums of log-probabilities, the greatest first. If two sums are equal, the
 * earlier beam or smaller id ranks higher.
 * @param {readonly Beam[]} beams
 * @param {readonly Float32Array[]} scores (V) for each beam
 * @param {number} most
 */
function findCandidates(beams, scores, most) {
  /** @type {Candidate[]} */
  const best = [];
  let least = -Infinity;
  for (const [parent, { sum: before }] of beams.entries())
    for (let id = 0; id < scores[parent].length; id++) {
      const sum = before + scores[parent][id];
      if (!(sum > least)) continue;
      let at = best.length;
      while (at > 0 && best[at - 1].sum < sum) at--;
      best.splice(at, 0, { parent, id, logProb: scores[parent][id], sum });
      if (best.length > most) best.pop();
      if (best.length === most) least = best[most - 1].sum;
    }
  return best;
}

/** Returns the length of the common beginning. @param {readonly number[]} a @param {readonly number[]} b */
function countEqual(a, b) {
  let count = 0;
  while (count < a.length && a[count] === b[count]) count++;
  return count;
}

class Search {
  /** Texts that the search continues, the best first. @type {Beam[]} */
  beams = [{ ids: [], logProbs: [], sum: 0, parent: 0 }];
  /** Texts that have ended, the best first. @type {Ended[]} */
  #ended = [];
  #request;
  #options;
  #start;
  #limit;

  /**
   * @param {Request} request
   * @param {BeamOptions} options
   * @param {number[]} start
   * @param {number} limit maximum number of generated tokens
   */
  constructor(request, options, start, limit) {
    this.#request = request;
    this.#options = options;
    this.#start = start;
    this.#limit = limit;
    this.isOver = limit === 0;
  }

  /** @param {number} sum @param {number} length */
  #score(sum, length) {
    return length === 0 ? 0 : sum / length ** this.#options.lengthPenalty;
  }

  /**
   * Continues each beam by one token and keeps the best.
   * @param {readonly Float32Array[]} logits of the next token of each beam; they are overwritten
   */
  step(logits) {
    const { count } = this.#options;
    const { stop } = this.#request;
    const length = this.beams[0].ids.length + 1;
    for (const [i, { ids }] of this.beams.entries()) this.#restrict(logSoftmax(logits[i]), ids);
    // At least `count` of this many candidates do not end, because each beam can end at most once with each end token.
    const candidates = findCandidates(this.beams, logits, Math.max(2, 1 + stop.ids.size) * count);
    if (candidates.length === 0) findLikeliest(logits[0]);
    /** @type {Beam[]} */
    const next = [];
    for (const [rank, candidate] of candidates.entries()) {
      const isEnd = stop.ids.has(candidate.id);
      if (!isEnd && length < this.#limit) {
        if (next.length < count) next.push(this.#extend(candidate));
      } else if (rank < count) this.#end(candidate, length, isEnd);
    }
    this.#ended.sort((a, b) => b.score - a.score);
    this.isOver = next.length === 0 || !this.#mayImprove(next[0], length);
    this.beams = next;
  }

  /** @param {Float32Array} scores @param {number[]} ids */
  #restrict(scores, ids) {
    const first = this.#start.length;
    restrictNext(scores, this.#request, { before: () => [...this.#start, ...ids], index: first + ids.length, first });
  }

  /** @param {Candidate} candidate @returns {Beam} */
  #extend({ parent, id, logProb, sum }) {
    const { ids, logProbs } = this.beams[parent];
    return { ids: [...ids, id], logProbs: [...logProbs, logProb], sum, parent };
  }

  /** @param {Candidate} candidate @param {number} length @param {boolean} isEnd true for an end token */
  #end(candidate, length, isEnd) {
    const beam = isEnd ? { ...this.beams[candidate.parent], sum: candidate.sum } : this.#extend(candidate);
    const ended = isEnd ? 'stop' : fullEnd(this.#request, length);
    this.#ended.push({ ...beam, ended, score: this.#score(candidate.sum, length) });
  }

  /**
   * Returns true if the search must continue. It ends when `count` texts have ended and, unless earlyStopping is true,
   * the best beam cannot get a better score than the worst of these texts.
   * @param {Beam} best
   * @param {number} length
   */
  #mayImprove({ sum }, length) {
    const { count, earlyStopping, lengthPenalty } = this.#options;
    if (this.#ended.length < count) return true;
    if (earlyStopping === true) return false;
    const assumed = earlyStopping === 'never' && lengthPenalty > 0 ? this.#limit : length;
    return this.#score(sum, assumed) > this.#ended[count - 1].score;
  }

  /** The best text. @returns {Omit<Ended, 'parent' | 'sum'>} */
  get best() {
    if (this.#ended.length > 0) return this.#ended[0];
    const [{ ids, logProbs, sum }] = this.beams;
    return { ids, logProbs, ended: fullEnd(this.#request, ids.length), score: this.#score(sum, ids.length) };
  }
}

/** Computes the logits of the next token of each beam, with one cache that has a row for each beam. */
class BeamSteps {
  #model;
  #prompt;
  #edit;
  #beyond;
  #cache;
  /** The beams in the cache. @type {readonly Beam[]} */
  #beams = [];

  /**
   * @param {Transformer} model
   * @param {Prompt} prompt
   * @param {{ length: number, beyond: number, edit?: readonly Edit[] }} given length: of the cache, in tokens; beyond:
   *   in a sequence with more tokens than this, all tokens are rotated by other angles
   */
  constructor(model, prompt, { length, beyond, edit }) {
    this.#model = model;
    this.#prompt = prompt;
    this.#edit = edit;
    this.#beyond = beyond;
    this.#cache = model.growingCache({ length: Math.max(length, 1) }, prompt.ids.length + INITIAL_ROOM);
  }

  /** @param {readonly Beam[]} beams @returns {Float32Array[]} */
  after(beams) {
    const input = this.#inputOf(beams);
    this.#beams = beams;
    return lastLogits(this.#model, this.#cache, input, this.#edit);
  }

  /** @param {readonly Beam[]} beams @returns {ModelInput} */
  #inputOf(beams) {
    const { ids: start, encoder } = this.#prompt;
    if (this.#cache.length === 0) return encoder ? { encoder, ids: start } : { ids: start };
    this.#follow(beams);
    const cache = this.#cache;
    if (cache.far || cache.length < this.#beyond) return { ids: beams.map(({ ids }) => ids.slice(-1)) };
    cache.rewind(0);
    return { ids: beams.map(({ ids }) => [...start, ...ids]) };
  }

  /** Gives each beam the cache row of its parent. @param {readonly Beam[]} beams */
  #follow(beams) {
    const parents = beams.map(({ parent }) => parent);
    if (beams.length !== this.#beams.length) {
      const cache = this.#cache;
      this.#cache = cache.takeRows(parents);
      cache.dispose();
      return;
    }
    const { length } = this.#prompt.ids;
    const since = parents.map((parent, i) => length + countEqual(this.#beams[parent].ids, this.#beams[i].ids));
    reorderRows(this.#cache, parents, since);
  }

  dispose() {
    this.#cache.dispose();
  }
}

/**
 * @param {Transformer} model
 * @param {Request} request
 * @param {BeamOptions} options
 * @param {Prompt} prompt
 * @param {{ room: number, beyond: number }} limits
 * @returns {Promise<Generated>}
 */
export async function searchBeams(model, request, options, prompt, { room, beyond }) {
  const { signal, edit } = request;
  const start = prompt.ids;
  const limit = limitOf(request, room);
  const search = new Search(request, options, start, limit);
  const steps = new BeamSteps(model, prompt, { length: start.length + limit - 1, beyond, edit });
  const pauses = new Pauses();
  try {
    while (!search.isOver && !signal?.aborted) {
      search.step(steps.after(search.beams));
      await pauses.next();
    }
  } finally {
    steps.dispose();
  }
  const { ids, logProbs, ended, score } = search.best;
  return { ids, text: await textOf(model, ids), logProbs, ended: search.isOver ? ended : 'signal', score };
}
