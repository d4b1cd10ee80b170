// Limits the work of a rendering: every operation charges what it reads and writes first, because a model's template
// may be hostile, and a rendering blocks its thread.

/** An error to which render.ts adds the line. */
export class Fault extends Error {}

/** Maximum of characters that a rendering reads and writes. */
const MOST = 2 ** 26;
/** An item of a list costs as much as this number of characters: it takes more memory and time. */
const ITEM = 8;
/** Units between two moments at which a rendering may pause. */
const PAUSE = 2 ** 20;

export class Budget {
  #most: number;
  #spent = 0;
  #pause = PAUSE;

  constructor(most = MOST) {
    this.#most = most;
  }

  spend(characters: number) {
    // An infinite number or NaN is over the limit too.
    if (!(this.#spent + characters <= this.#most))
      throw new Fault(`it reads and writes more than ${this.#most} characters (an item of a list counts as ${ITEM})`);
    this.#spent += characters;
  }

  items(count: number) {
    this.spend(count * ITEM);
  }

  /** Charges a text that is read or written, and returns it. */
  text(text: string) {
    this.spend(text.length);
    return text;
  }

  /** Charges a list that is read or written, and returns it. */
  list<T extends any[]>(list: T): T {
    this.items(list.length + 1);
    return list;
  }

  /** Returns true once after each share of the work. */
  takePause() {
    if (this.#spent < this.#pause) return false;
    this.#pause = this.#spent + PAUSE;
    return true;
  }
}
