// Computes the logits after each generated token. With lookup, drafted tokens are computed in one run with the one
// before.

import { shapeOf, type Tensor, viewOf } from '../../memory/tensor.ts';
import type { Cache } from '../cache.ts';
import type { Edit } from '../edits.ts';
import type { ModelInput, PlainInput } from '../input.ts';
import type { ModelResult } from '../modelResult.ts';
import type { Transformer } from '../transformer.ts';
import type { ValueName } from '../valueName.ts';
import { CALLER } from './generateOptions.ts';
import { PromptLookup } from './promptLookup.ts';

export class GenerationSteps {
  #model: Transformer;
  #cache: Cache;
  #given: {
    encoder?: PlainInput;
    edit?: readonly Edit[];
    capture?: readonly ValueName[];
    beyond: number;
    lookup: boolean;
  };
  #lookup: PromptLookup | undefined;
  /** Tokens of the draft that are in the cache and may be chosen next, each with the logits after it. */
  #drafted: { id: number; logits: Float32Array }[] = [];
  /** Number of tokens of the draft that have been chosen. */
  #chosen = 0;
  /** Captured tensors that have not been freed. */
  #open: Tensor[] = [];
  /** The captured values of the last run. */
  captured: Record<string, Tensor> = {};

  /** cache: locked by the caller; given: beyond: a longer sequence has other rotary angles for all tokens */
  constructor(
    model: Transformer,
    cache: Cache,
    given: {
      encoder?: PlainInput;
      edit?: readonly Edit[];
      capture?: readonly ValueName[];
      beyond: number;
      lookup: boolean;
    },
  ) {
    this.#model = model;
    this.#cache = cache;
    this.#given = given;
    // No draft: an edit may depend on which tokens a run has, and captured values belong to one token.
    if (given.lookup && !given.edit && !given.capture) this.#lookup = new PromptLookup();
  }

  /**
   * Returns the logits after `next`: the prompt in the first call, later one token. all: returns all tokens so far,
   * with next.
   */
  after(next: number[], all: () => number[]): Float32Array {
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

  /** Returns the logits after the next drafted token if this token was chosen; otherwise drops the draft. */
  #chooseDrafted(id: number) {
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

  /** returns the logits after next */
  #run(next: number[], draft: number[]): Float32Array {
    const { encoder, edit, capture } = this.#given;
    const cache = this.#cache;
    const ids = [...next, ...draft];
    const input = encoder && cache.length === 0 ? { encoder, ids } : { ids };
    const last = draft.length === 0;
    const result = this.#model.forwardFor(CALLER, input as ModelInput, { cache, last, edit, capture });
    const logits = result.logits as Tensor;
    const width = shapeOf(logits).at(-1) as number;
    const rows = viewOf(logits).slice(-(draft.length + 1) * width);
    this.#keep(result);
    const rowAt = (i: number) => rows.subarray(i * width, (i + 1) * width);
    this.#drafted = draft.map((id, i) => ({ id, logits: rowAt(i + 1) }));
    this.#chosen = 0;
    return rowAt(0);
  }

  /** Frees a result except its captured values. */
  #keep({ captured, tensors }: ModelResult) {
    const kept = Object.values(captured);
    for (const tensor of tensors) if (!kept.includes(tensor)) tensor.dispose();
    this.#open = [...this.#open.filter((tensor) => !tensor.disposed), ...kept];
    this.captured = captured;
  }

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
