// Computes when the next training step is due at a chosen number of steps per second.

/** Maximum delay in milliseconds that further steps make up for. Steps that are due for longer are skipped. */
const MAX_DELAY = 100;

export class Pace {
  declare speed: number | null;

  #due = 0;

  /** `speed`: steps per second; null without a limit. */
  constructor(speed: number | null) {
    this.speed = speed;
  }

  restart() {
    this.#due = performance.now();
  }

  /** Returns true if a step is due; the caller must perform it, because the next step is scheduled. */
  takeStep(): boolean {
    const now = performance.now();
    if (now < this.#due) return false;
    this.#due = this.speed === null ? 0 : Math.max(this.#due + 1000 / this.speed, now - MAX_DELAY);
    return true;
  }

  get delay() {
    return this.speed === null ? 0 : Math.max(this.#due - performance.now(), 0);
  }
}
