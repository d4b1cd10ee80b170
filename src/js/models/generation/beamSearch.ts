// Beam search: continues several texts and keeps those with the greatest sum of log-probabilities. Follows
// `_beam_search` of transformers.

import { findLikeliest } from '../../text/sampling.ts';
import type { Cache } from '../cache.ts';
import type { Edit } from '../edits.ts';
import type { ModelInput } from '../input.ts';
import type { Transformer } from '../transformer.ts';
import { fullEnd, limitOf, Pauses, textOf } from './continuedText.ts';
import type { BeamOptions, Generated, Request } from './generateOptions.ts';
import { lastLogits } from './lastLogits.ts';
import type { Prompt } from './prompts.ts';
import { reorderRows } from './reorderRows.ts';
import { restrictNext } from './restrictNext.ts';

/** sum: of log-probabilities; parent: index of the previous beam that this text continues. */
export type Beam = { ids: number[]; logProbs: number[]; sum: number; parent: number };
export type Ended = Beam & { ended: Generated['ended']; score: number };
export type Candidate = { parent: number; id: number; logProb: number; sum: number };

/** Number of tokens after the prompt for which a new cache has memory. It grows if more tokens are generated. */
const INITIAL_ROOM = 64;

/** Replaces logits by log-probabilities, in place. */
function logSoftmax(logits: Float32Array) {
  const most = logits[findLikeliest(logits)];
  let total = 0;
  for (let i = 0; i < logits.length; i++) total += Math.exp(logits[i] - most);
  const shift = most + Math.log(total);
  for (let i = 0; i < logits.length; i++) logits[i] -= shift;
  return logits;
}

/**
 * The continuations of greatest sums, greatest first; of equal ones the earlier beam or smaller id. scores: (V) for
 * each beam.
 */
function findCandidates(beams: readonly Beam[], scores: readonly Float32Array[], most: number) {
  const best: Candidate[] = [];
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

/** Returns the length of the common beginning. */
function countEqual(a: readonly number[], b: readonly number[]) {
  let count = 0;
  while (count < a.length && a[count] === b[count]) count++;
  return count;
}

class Search {
  declare isOver: boolean;

  /** Texts that the search continues, the best first. */
  beams: Beam[] = [{ ids: [], logProbs: [], sum: 0, parent: 0 }];
  /** Texts that have ended, the best first. */
  #ended: Ended[] = [];
  #request: Request;
  #options: BeamOptions;
  #start: number[];
  #limit: number;

  /** limit: maximum number of generated tokens */
  constructor(request: Request, options: BeamOptions, start: number[], limit: number) {
    this.#request = request;
    this.#options = options;
    this.#start = start;
    this.#limit = limit;
    this.isOver = limit === 0;
  }

  #score(sum: number, length: number) {
    return length === 0 ? 0 : sum / length ** this.#options.lengthPenalty;
  }

  /** Continues each beam by one token and keeps the best. logits: of each beam; overwritten. */
  step(logits: readonly Float32Array[]) {
    const { count } = this.#options;
    const { stop } = this.#request;
    const length = this.beams[0].ids.length + 1;
    for (const [i, { ids }] of this.beams.entries()) this.#restrict(logSoftmax(logits[i]), ids);
    // At least `count` of this many candidates do not end, because each beam can end at most once with each end token.
    const candidates = findCandidates(this.beams, logits, Math.max(2, 1 + stop.ids.size) * count);
    if (candidates.length === 0) findLikeliest(logits[0]);
    const next: Beam[] = [];
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

  #restrict(scores: Float32Array, ids: number[]) {
    const first = this.#start.length;
    restrictNext(scores, this.#request, { before: () => [...this.#start, ...ids], index: first + ids.length, first });
  }

  #extend({ parent, id, logProb, sum }: Candidate): Beam {
    const { ids, logProbs } = this.beams[parent];
    return { ids: [...ids, id], logProbs: [...logProbs, logProb], sum, parent };
  }

  #end(candidate: Candidate, length: number, isEnd: boolean) {
    const beam = isEnd ? { ...this.beams[candidate.parent], sum: candidate.sum } : this.#extend(candidate);
    const ended = isEnd ? 'stop' : fullEnd(this.#request, length);
    this.#ended.push({ ...beam, ended, score: this.#score(candidate.sum, length) });
  }

  /**
   * The search ends when `count` texts have ended and, unless earlyStopping is true, the best beam cannot beat the
   * worst of them.
   */
  #mayImprove({ sum }: Beam, length: number) {
    const { count, earlyStopping, lengthPenalty } = this.#options;
    if (this.#ended.length < count) return true;
    if (earlyStopping === true) return false;
    const assumed = earlyStopping === 'never' && lengthPenalty > 0 ? this.#limit : length;
    return this.#score(sum, assumed) > this.#ended[count - 1].score;
  }

  get best(): Omit<Ended, 'parent' | 'sum'> {
    if (this.#ended.length > 0) return this.#ended[0];
    const [{ ids, logProbs, sum }] = this.beams;
    return { ids, logProbs, ended: fullEnd(this.#request, ids.length), score: this.#score(sum, ids.length) };
  }
}

/** Computes the logits of the next token of each beam, with one cache that has a row for each beam. */
class BeamSteps {
  #model: Transformer;
  #prompt: Prompt;
  #edit: readonly Edit[] | undefined;
  #beyond: number;
  #cache: Cache;
  /** The beams in the cache. */
  #beams: readonly Beam[] = [];

  /** given: length: of the cache, in tokens; beyond: a longer sequence has other rotary angles for all tokens */
  constructor(
    model: Transformer,
    prompt: Prompt,
    { length, beyond, edit }: { length: number; beyond: number; edit?: readonly Edit[] },
  ) {
    this.#model = model;
    this.#prompt = prompt;
    this.#edit = edit;
    this.#beyond = beyond;
    this.#cache = model.growingCache({ length: Math.max(length, 1) }, prompt.ids.length + INITIAL_ROOM);
  }

  after(beams: readonly Beam[]): Float32Array[] {
    const input = this.#inputOf(beams);
    this.#beams = beams;
    return lastLogits(this.#model, this.#cache, input, this.#edit);
  }

  #inputOf(beams: readonly Beam[]): ModelInput {
    const { ids: start, encoder } = this.#prompt;
    if (this.#cache.length === 0) return encoder ? { encoder, ids: start } : { ids: start };
    this.#follow(beams);
    const cache = this.#cache;
    if (cache.far || cache.length < this.#beyond) return { ids: beams.map(({ ids }) => ids.slice(-1)) };
    cache.rewind(0);
    return { ids: beams.map(({ ids }) => [...start, ...ids]) };
  }

  /** Gives each beam the cache row of its parent. */
  #follow(beams: readonly Beam[]) {
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

export async function searchBeams(
  model: Transformer,
  request: Request,
  options: BeamOptions,
  prompt: Prompt,
  { room, beyond }: { room: number; beyond: number },
): Promise<Generated> {
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
