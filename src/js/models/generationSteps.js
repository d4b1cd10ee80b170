// Computes the logits after each token of a generated text. With the option lookup, drafted tokens are computed in one
// run with the token before them.

import { shapeOf, viewOf } from '../memory/tensor.js';
import { CALLER } from './generateOptions.js';
import { PromptLookup } from './promptLookup.js';

/** @import { Cache } from './cache.js' */
/** @import { Edit } from './edits.js' */
/** @import { ModelInput, PlainInput } from './input.js' */
/** @import { ModelResult } from './modelResult.js' */
/** @import { Tensor } from '../memory/tensor.js' */
/** @import { Transformer } from './transformer.js' */
/** @import { ValueName } from './valueName.js' */

export class GenerationSteps {
  #model;
  #cache;
  #given;
  /** @type {PromptLookup | undefined} */
  #lookup;
  /** Tokens of the draft that are in the cache and may be chosen next, each with the logits after it.
   * @type {{ id: number, logits: Float32Array }[]} */
  #drafted = [];
  /** Number of tokens of the draft that have been chosen. */
  #chosen = 0;
  /** Captured tensors that have not been freed. @type {Tensor[]} */
  #open = [];
  /** The captured values of the last run. @type {Record<string, Tensor>} */
  captured = {};

  /**
   * @param {Transformer} model
   * @param {Cache} cache which the caller has locked
   * @param {{ encoder?: PlainInput, edit?: readonly Edit[], capture?: readonly ValueName[], beyond: number,
   *   lookup: boolean }} given beyond: in a sequence with more tokens than this, all tokens are rotated by other angles
   */
  constructor(model, cache, given) {
    this.#model = model;
    this.#cache = cache;
    this.#given = given;
    // The result of an edit may depend on which tokens a run has, and captured values belong to one token, so there is
    // no draft with either.
    if (given.lookup && !given.edit && !given.capture) this.#lookup = new PromptLookup();
  }

  /**
   * Returns the logits after the tokens `next`.
   * @param {number[]} next the prompt in the first call, one token in each later call
   * @param {() => number[]} all returns all tokens so far, including next
   * @returns {Float32Array}
   */
  after(next, all) {
    for (const id of next) this.#lookup?.push(id);
    const logits = this.#chooseDrafted(next[0]);
    if (logits) return logits;
    const { beyond } = this.#given;
    const [cache, isFirst] = [this.#cache, next.length > 1];
    return cache.forUser(() => {
      if (!cache.far && cache.length > 0 && cache.length + next.length > beyond) {
        cache.rewind(0);
        return this.#run(all(), []);
      }
      const room = Math.min(cache.far ? Infinity : beyond, cache.capacity) - cache.length - next.length;
      return this.#run(next, isFirst ? [] : (this.#lookup?.draft(room) ?? []));
    });
  }

  /**
   * Returns the logits after the next drafted token if this token was chosen; otherwise drops the draft.
   * @param {number} id
   */
  #chooseDrafted(id) {
    const drafted = this.#drafted[0];
    if (!drafted) return undefined;
    if (drafted.id !== id) {
      this.end();
      this.#lookup?.refuse(this.#chosen);
      return undefined;
    }
    this.#drafted.shift();
    this.#chosen++;
    if (this.#drafted.length === 0) this.#lookup?.accept();
    return drafted.logits;
  }

  /** @param {number[]} next @param {number[]} draft @returns {Float32Array} the logits after next */
  #run(next, draft) {
    const { encoder, edit, capture } = this.#given;
    const cache = this.#cache;
    const ids = [...next, ...draft];
    const input = encoder && cache.length === 0 ? { encoder, ids } : { ids };
    const last = draft.length === 0;
    const result = this.#model.forwardFor(CALLER, /** @type {ModelInput} */ (input), { cache, last, edit, capture });
    const logits = /** @type {Tensor} */ (result.logits);
    const width = /** @type {number} */ (shapeOf(logits).at(-1));
    const rows = viewOf(logits).slice(-(draft.length + 1) * width);
    this.#keep(result);
    const rowAt = (/** @type {number} */ i) => rows.subarray(i * width, (i + 1) * width);
    this.#drafted = draft.map((id, i) => ({ id, logits: rowAt(i + 1) }));
    this.#chosen = 0;
    return rowAt(0);
  }

  /** Frees a result except its captured values. @param {ModelResult} result */
  #keep({ captured, tensors }) {
    const kept = Object.values(captured);
    for (const tensor of tensors) if (!kept.includes(tensor)) tensor.dispose();
    this.#open = [...this.#open.filter((tensor) => !tensor.disposed), ...kept];
    this.captured = captured;
  }

  /** Frees all captured values. */
  dispose() {
    for (const tensor of this.#open) tensor.dispose();
  }

  /** Removes from the cache the drafted tokens that were not chosen, and discards the rest of the draft. */
  end() {
    const { length } = this.#drafted;
    if (length > 0) this.#cache.forUser(() => this.#cache.rewind(this.#cache.length - length));
    this.#drafted = [];
  }
}
