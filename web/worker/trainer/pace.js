// When the next training step is due, at a chosen number of steps a second.

/** Milliseconds whose steps are caught up after a delay, at most. */
const MAX_DELAY = 100;

export class Pace {
  #due = 0;

  /** @param {number | null} speed steps a second; null without a limit */
  constructor(speed) {
    this.speed = speed;
  }

  /** The next step is due now. */
  restart() {
    this.#due = performance.now();
  }

  /** @returns {boolean} true if a step is due, which is counted as taken */
  takeStep() {
    const now = performance.now();
    if (now < this.#due) return false;
    this.#due = this.speed === null ? 0 : Math.max(this.#due + 1000 / this.speed, now - MAX_DELAY);
    return true;
  }

  /** Milliseconds until the next step. */
  get delay() {
    return this.speed === null ? 0 : Math.max(this.#due - performance.now(), 0);
  }
}
