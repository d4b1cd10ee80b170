// A trie that finds all words that begin at a position of a text in one walk.

/** Maximum UTF-16 units of a word. A walk takes at most as many steps at each position of a text. */
export const MAX_WORD_LENGTH = 1024;
export const MAX_WORD_EXPECTED = `pieces of at most ${MAX_WORD_LENGTH} characters`;

export class Trie {
  #units: Uint16Array<ArrayBuffer>;
  #first: Int32Array<ArrayBuffer>;
  #count: Int32Array<ArrayBuffer>;
  #word: Int32Array<ArrayBuffer>;

  constructor(words: readonly string[]) {
    const order = Array.from(words, (_, i) => i).sort((a, b) =>
      words[a] < words[b] ? -1 : words[a] > words[b] ? 1 : 0,
    );
    /** A node is a range of the sorted words, which have the same prefix. */
    const [from, until, units, first, count, word]: number[][] = [[0], [order.length], [0], [], [], []];
    // Nodes are made breadth first, so that the children of a node are contiguous and sorted by unit.
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

  /** returns −1 if there is no such child */
  child(node: number, unit: number): number {
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

  childrenOf(node: number): [unit: number, child: number][] {
    const first = this.#first[node];
    return Array.from({ length: this.#count[node] }, (_, i) => [this.#units[first + i], first + i]);
  }

  /** Returns the index of the word that ends at a node, −1 if there is none. */
  wordOf(node: number) {
    return this.#word[node];
  }

  /** Calls `found` for the words that begin at a position, the shortest first; of equal words only the last index. */
  each(text: string, at: number, found: (word: number, end: number) => void) {
    for (let node = 0; at < text.length; ) {
      node = this.child(node, text.charCodeAt(at++));
      if (node < 0) return;
      if (this.#word[node] >= 0) found(this.#word[node], at);
    }
  }

  /** returns the longest word that begins at a position; word: −1 if there is none */
  longest(text: string, at: number): { word: number; end: number } {
    let longest = { word: -1, end: at };
    this.each(text, at, (word, end) => {
      longest = { word, end };
    });
    return longest;
  }
}
