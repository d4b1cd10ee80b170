// Drafts of the next tokens: those that followed an earlier occurrence of the last ones. An induction head does the
// same within a model.

/** Tokens that must have occurred before. */
const MATCH = 3;
/** Drafted tokens: at first, and at most. */
const [FEW, MOST] = [3, 7];
/** Tokens without a draft after one that was refused; twice as many after the next one. */
const [PAUSE, MAX_PAUSE] = [4, 256];

export class PromptLookup {
  /** @type {number[]} */
  #ids = [];
  /** The index after the latest occurrence of each sequence of MATCH tokens. @type {Map<string, number>} */
  #after = new Map();
  #count = FEW;
  #pause = PAUSE;
  /** Tokens until the next draft. */
  #wait = 0;

  /** The index after the occurrence of the last tokens before this one. @type {number | undefined} */
  #found;

  /** @param {number} id */
  push(id) {
    this.#ids.push(id);
    if (this.#wait > 0) this.#wait--;
    if (this.#ids.length < MATCH) return;
    const key = this.#ids.slice(-MATCH).join(' ');
    this.#found = this.#after.get(key);
    this.#after.set(key, this.#ids.length);
  }

  /** @param {number} most @returns {number[]} */
  draft(most) {
    if (this.#found === undefined || this.#wait > 0) return [];
    /** @type {number[]} */
    const draft = [];
    const { length } = this.#ids;
    for (let i = 0; i < Math.min(this.#count, most); i++) {
      const at = this.#found + i;
      // A text that repeats itself with a short period is continued with the draft.
      draft.push(at < length ? this.#ids[at] : draft[at - length]);
    }
    return draft;
  }

  /** All tokens of a draft were chosen. */
  accept() {
    [this.#count, this.#pause] = [Math.min(2 * this.#count + 1, MOST), PAUSE];
  }

  /** A token of a draft was not chosen. @param {number} chosen tokens before it that were */
  refuse(chosen) {
    this.#count = Math.max(chosen, 1);
    if (chosen > 0) return;
    this.#wait = this.#pause;
    this.#pause = Math.min(2 * this.#pause, MAX_PAUSE);
  }
}
