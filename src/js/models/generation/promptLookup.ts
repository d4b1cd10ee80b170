// Drafts the tokens that followed the previous occurrence of the last three, as an induction head does within a model.

/** Number of tokens at the end of the text that must have occurred before in the same order. */
const MATCH = 3;
/** Number of tokens of the first draft, and maximum number of tokens of a draft. */
const [FEW, MOST] = [3, 7];
/** Tokens without a draft after one of which nothing was chosen: doubles each time, up to a maximum. */
const [PAUSE, MAX_PAUSE] = [4, 256];

export class PromptLookup {
  #ids: number[] = [];
  /** The index after the latest occurrence of each sequence of MATCH tokens. */
  #after: Map<string, number> = new Map();
  #count = FEW;
  #pause = PAUSE;
  /** Number of tokens until the next draft. */
  #wait = 0;

  /** The index after the previous occurrence of the last MATCH tokens. */
  #found: number | undefined;

  push(id: number) {
    this.#ids.push(id);
    if (this.#wait > 0) this.#wait--;
    if (this.#ids.length < MATCH) return;
    const key = this.#ids.slice(-MATCH).join(' ');
    this.#found = this.#after.get(key);
    this.#after.set(key, this.#ids.length);
  }

  draft(most: number): number[] {
    if (this.#found === undefined || this.#wait > 0) return [];
    const draft: number[] = [];
    const { length } = this.#ids;
    for (let i = 0; i < Math.min(this.#count, most); i++) {
      const at = this.#found + i;
      // In a text that repeats itself with a short period, the draft reaches the end and continues with its own tokens.
      draft.push(at < length ? this.#ids[at] : draft[at - length]);
    }
    return draft;
  }

  /** Lengthens the next draft, because all tokens of a draft were chosen. */
  accept() {
    [this.#count, this.#pause] = [Math.min(2 * this.#count + 1, MOST), PAUSE];
  }

  /** Shortens the next draft, because a token was not chosen. chosen: number of chosen tokens before it. */
  refuse(chosen: number) {
    this.#count = Math.max(chosen, 1);
    if (chosen > 0) return;
    this.#wait = this.#pause;
    this.#pause = Math.min(2 * this.#pause, MAX_PAUSE);
  }
}
