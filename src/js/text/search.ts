// Finds the longest word at each position in linear time (Aho–Corasick). The automaton has reversed words and reads
// backwards, so that it finds words that begin at a position, not those that end there.

import { Trie } from './trie.ts';

export class Search {
  #trie: Trie;
  /** The suffix link of each node: the node of its longest proper suffix in the trie. */
  #suffix: Int32Array<ArrayBuffer>;
  /** The longest word that is a suffix of each node's text, −1 if there is none. */
  #longest: Int32Array<ArrayBuffer>;

  constructor(words: readonly string[]) {
    const backwards = words.map((word) => word.split('').reverse().join(''));
    this.#trie = new Trie(backwards);
    this.#suffix = new Int32Array(this.#trie.size);
    this.#longest = new Int32Array(this.#trie.size).fill(-1);
    // In breadth-first order, so the links of shorter nodes are complete.
    for (let node = 0; node < this.#trie.size; node++)
      for (const [unit, child] of this.#trie.childrenOf(node)) {
        const suffix = node === 0 ? 0 : this.#next(this.#suffix[node], unit);
        const word = this.#trie.wordOf(child);
        this.#suffix[child] = suffix;
        this.#longest[child] = word >= 0 ? word : this.#longest[suffix];
      }
  }

  #next(node: number, unit: number) {
    let at = node;
    let child = this.#trie.child(at, unit);
    while (child < 0 && at > 0) {
      at = this.#suffix[at];
      child = this.#trie.child(at, unit);
    }
    return Math.max(child, 0);
  }

  /** Index of the longest word that begins at each position, or −1; null without any word. */
  longest(text: string): Int32Array | null {
    const found = new Int32Array(text.length);
    let any = false;
    for (let at = text.length - 1, node = 0; at >= 0; at--) {
      node = this.#next(node, text.charCodeAt(at));
      found[at] = this.#longest[node];
      any ||= found[at] >= 0;
    }
    return any ? found : null;
  }
}
