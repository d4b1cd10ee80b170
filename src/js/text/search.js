// The longest of many words at every place of a text, in time that is linear in the text however alike the words are
// (Aho and Corasick). The text is read backwards: the words that end there are those that begin at a place.

import { Trie } from './trie.js';

export class Search {
  #trie;
  /** Of each node, that of its longest proper end which words begin with. */
  #shorter;
  /** The longest word that ends at each node, −1 for none. */
  #longest;

  /** @param {readonly string[]} words */
  constructor(words) {
    const backwards = words.map((word) => word.split('').reverse().join(''));
    this.#trie = new Trie(backwards);
    this.#shorter = new Int32Array(this.#trie.size);
    this.#longest = new Int32Array(this.#trie.size).fill(-1);
    // Nodes come level by level, so that shorter ones are known.
    for (let node = 0; node < this.#trie.size; node++)
      for (const [unit, child] of this.#trie.childrenOf(node)) {
        const shorter = node === 0 ? 0 : this.#next(this.#shorter[node], unit);
        const word = this.#trie.wordOf(child);
        this.#shorter[child] = shorter;
        this.#longest[child] = word >= 0 ? word : this.#longest[shorter];
      }
  }

  /** @param {number} node @param {number} unit */
  #next(node, unit) {
    let at = node;
    let child = this.#trie.child(at, unit);
    while (child < 0 && at > 0) {
      at = this.#shorter[at];
      child = this.#trie.child(at, unit);
    }
    return Math.max(child, 0);
  }

  /**
   * The longest word at each place, −1 for none.
   * @param {string} text
   * @returns {Int32Array | null} null where there is no word at all
   */
  longest(text) {
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
