// Parses JSON from untrusted files. Unlike JSON.parse, it limits the depth and the items of one list or object, rejects
// duplicate names, and treats names like __proto__ as any other name.

/** A string without escapes. */
const PLAIN = /"[^"\\\u0000-\u001f]*"/y;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const WORDS = /** @type {const} */ ([
  ['true', true],
  ['false', false],
  ['null', null],
]);

/**
 * @param {string} text
 * @param {(reason: string) => Error} fail
 * @param {{ maxDepth?: number, maxItems?: number }} [limits]
 * @returns {unknown} objects have no prototype
 */
export const parseJson = (text, fail, { maxDepth = 16, maxItems = 2 ** 20 } = {}) =>
  new Parser(text, fail, maxDepth, maxItems).parse();

class Parser {
  #text;
  #fail;
  #maxDepth;
  #maxItems;
  #at = 0;

  /**
   * @param {string} text
   * @param {(reason: string) => Error} fail
   * @param {number} maxDepth
   * @param {number} maxItems
   */
  constructor(text, fail, maxDepth, maxItems) {
    this.#text = text;
    this.#fail = fail;
    this.#maxDepth = maxDepth;
    this.#maxItems = maxItems;
  }

  parse() {
    const result = this.#value(0);
    this.#skipSpace();
    if (this.#at < this.#text.length) throw this.#error('more text after the value');
    return result;
  }

  /** @param {string} reason */
  #error(reason) {
    return this.#fail(`${reason} at character ${this.#at}`);
  }

  #skipSpace() {
    const text = this.#text;
    let at = this.#at;
    for (; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) break;
    }
    this.#at = at;
  }

  /** Consumes a character after spaces, if it is next. @param {string} char */
  #consume(char) {
    this.#skipSpace();
    if (this.#text[this.#at] !== char) return false;
    this.#at++;
    return true;
  }

  /** @param {number} depth @returns {unknown} */
  #value(depth) {
    this.#skipSpace();
    const text = this.#text;
    const first = text[this.#at];
    if (first === '"') return this.#string();
    if (first === '{' || first === '[') {
      if (depth === this.#maxDepth) throw this.#error(`nested deeper than ${this.#maxDepth} levels`);
      return first === '{' ? this.#object(depth + 1) : this.#array(depth + 1);
    }
    NUMBER.lastIndex = this.#at;
    if (NUMBER.test(text)) return Number(text.slice(this.#at, (this.#at = NUMBER.lastIndex)));
    for (const [word, meaning] of WORDS) {
      if (!text.startsWith(word, this.#at)) continue;
      this.#at += word.length;
      return meaning;
    }
    throw this.#error(this.#at < text.length ? 'expected a value' : 'the text ends');
  }

  #string() {
    const text = this.#text;
    const start = this.#at;
    PLAIN.lastIndex = start;
    if (PLAIN.test(text)) {
      this.#at = PLAIN.lastIndex;
      return text.slice(start + 1, this.#at - 1);
    }
    let end = start;
    do {
      end = text.indexOf('"', end + 1);
      if (end < 0) throw this.#error('a string without an end');
    } while (isEscaped(text, end));
    try {
      const parsed = JSON.parse(text.slice(start, end + 1));
      this.#at = end + 1;
      return parsed;
    } catch {
      throw this.#error('not a JSON string');
    }
  }

  /** Items between brackets, separated by commas. @param {string} close @param {() => void} item parses one */
  #list(close, item) {
    this.#at++;
    if (this.#consume(close)) return;
    for (let count = 0; ; count++) {
      if (count === this.#maxItems) throw this.#error(`more than ${this.#maxItems} items`);
      item();
      if (this.#consume(close)) return;
      if (!this.#consume(',')) throw this.#error(`expected ',' or '${close}'`);
    }
  }

  /** @param {number} depth */
  #array(depth) {
    /** @type {unknown[]} */
    const items = [];
    this.#list(']', () => items.push(this.#value(depth)));
    return items;
  }

  /** @param {number} depth */
  #object(depth) {
    /** @type {Record<string, unknown>} */
    const members = Object.create(null);
    this.#list('}', () => {
      this.#skipSpace();
      if (this.#text[this.#at] !== '"') throw this.#error('expected a name');
      const start = this.#at;
      const name = this.#string();
      if (name in members) {
        this.#at = start;
        throw this.#error('a duplicate name');
      }
      if (!this.#consume(':')) throw this.#error("expected ':'");
      members[name] = this.#value(depth);
    });
    return members;
  }
}

/** True if an odd number of backslashes precedes the character. @param {string} text @param {number} at */
function isEscaped(text, at) {
  let start = at;
  while (text[start - 1] === '\\') start--;
  return (at - start) % 2 === 1;
}
