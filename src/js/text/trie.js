// Many words as one tree: all of them that begin at a place of a text are found in one walk.

/** Units of a word: the time that a place of the text takes grows with them. */
export const LONGEST = 1024;
export const LONGEST_EXPECTED = `pieces of at most ${LONGEST} characters`;

export class Trie {
  #units;
  #first;
  #count;
  #word;

  /** @param {readonly string[]} words */
  constructor(words) {
    const order = Array.from(words, (_, i) => i).sort((a, b) =>
      words[a] < words[b] ? -1 : words[a] > words[b] ? 1 : 0,
    );
    /** A node stands for the sorted words from one place to another, which begin alike. @type {number[][]} */
    const [from, until, units, first, count, word] = [[0], [order.length], [0], [], [], []];
    // Level by level, so that the children of a node lie side by side, in the order of their units.
    for (let depth = 0, node = 0; node < from.length; depth++) {
      for (const level = from.length; node < level; node++) {
        let at = from[node];
        word[node] = -1;
        for (; at < until[node] && words[order[at]].length === depth; at++) word[node] = order[at];
        first[node] = from.length;
        while (at < until[node]) {
          const unit = words[order[at]].charCodeAt(depth);
          from.push(at);
          units.push(unit);
          while (at < until[node] && words[order[at]].charCodeAt(depth) === unit) at++;
          until.push(at);
        }
        count[node] = from.length - first[node];
      }
    }
    this.#units = Uint16Array.from(units);
    this.#first = Int32Array.from(first);
    this.#count = Int32Array.from(count);
    this.#word = Int32Array.from(word);
  }

  /** @param {number} node @param {number} unit @returns {number} −1 where there is no such child */
  child(node, unit) {
    let low = this.#first[node];
    let high = low + this.#count[node] - 1;
    while (low <= high) {
      const middle = (low + high) >> 1;
      const found = this.#units[middle];
      if (found === unit) return middle;
      if (found < unit) low = middle + 1;
      else high = middle - 1;
    }
    return -1;
  }

  get size() {
    return this.#word.length;
  }

  /** @param {number} node @returns {[unit: number, child: number][]} */
  childrenOf(node) {
    const first = this.#first[node];
    return Array.from({ length: this.#count[node] }, (_, i) => [this.#units[first + i], first + i]);
  }

  /** The word that ends at a node, −1 for none. @param {number} node */
  wordOf(node) {
    return this.#word[node];
  }

  /**
   * The words that begin at a place, the shortest first. Of words given twice, the last.
   * @param {string} text
   * @param {number} at
   * @param {(word: number, end: number) => void} found
   */
  each(text, at, found) {
    for (let node = 0; at < text.length; ) {
      node = this.child(node, text.charCodeAt(at++));
      if (node < 0) return;
      if (this.#word[node] >= 0) found(this.#word[node], at);
    }
  }

  /** @param {string} text @param {number} at @returns {{ word: number, end: number }} word −1 where there is none */
  longest(text, at) {
    let longest = { word: -1, end: at };
    this.each(text, at, (word, end) => {
      longest = { word, end };
    });
    return longest;
  }
}
