// Parses JSON from untrusted files. Unlike JSON.parse, limits depth and items, rejects duplicate names, and treats a
// name such as __proto__ as any other.

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const WORDS = [
  ['true', true],
  ['false', false],
  ['null', null],
] as const;

/** Objects in the value have no prototype. options: maps: true for objects as Maps, faster with many names. */
export const parseJson = (
  text: string,
  fail: (reason: string) => Error,
  { maxDepth = 16, maxItems = 2 ** 20, maps = false }: { maxDepth?: number; maxItems?: number; maps?: boolean } = {},
): unknown => new Parser(text, fail, maxDepth, maxItems, maps).parse();

// Code units. Each is a constant of its own, so that a minifier inlines the number.
const QUOTE = 0x22;
const COMMA = 0x2c;
const ZERO = 0x30;
const NINE = 0x39;
const COLON = 0x3a;
const OPEN_LIST = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
/** Maximum digits of an integer that is read without Number(). */
const SHORT = 9;

class Parser {
  #text: string;
  #fail: (reason: string) => Error;
  #maxDepth: number;
  #maxItems: number;
  #maps: boolean;
  #at = 0;

  constructor(text: string, fail: (reason: string) => Error, maxDepth: number, maxItems: number, maps: boolean) {
    this.#text = text;
    this.#fail = fail;
    this.#maxDepth = maxDepth;
    this.#maxItems = maxItems;
    this.#maps = maps;
  }

  parse() {
    const result = this.#value(0);
    this.#skipSpace();
    if (this.#at < this.#text.length) throw this.#error('more text after the value');
    return result;
  }

  #error(reason: string) {
    return this.#fail(`${reason} at character ${this.#at}`);
  }

  /** Skips spaces and returns the next code unit, or NaN at the end of the text. */
  #skipSpace() {
    const text = this.#text;
    let at = this.#at;
    let code = text.charCodeAt(at);
    while (code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09) code = text.charCodeAt(++at);
    this.#at = at;
    return code;
  }

  #value(depth: number): unknown {
    const code = this.#skipSpace();
    if (code === QUOTE) return this.#string();
    if (code === OPEN_OBJECT || code === OPEN_LIST) {
      if (depth === this.#maxDepth) throw this.#error(`nested deeper than ${this.#maxDepth} levels`);
      this.#at++;
      return code === OPEN_LIST ? this.#list(depth + 1) : this.#object(depth + 1);
    }
    const text = this.#text;
    const integer = this.#shortInteger(code);
    if (integer >= 0) return integer;
    NUMBER.lastIndex = this.#at;
    if (NUMBER.test(text)) return Number(text.slice(this.#at, (this.#at = NUMBER.lastIndex)));
    for (const [word, meaning] of WORDS) {
      if (!text.startsWith(word, this.#at)) continue;
      this.#at += word.length;
      return meaning;
    }
    throw this.#error(this.#at < text.length ? 'expected a value' : 'the text ends');
  }

  /** Reads an integer such as 0 or 128. Returns −1 for other numbers. */
  #shortInteger(first: number) {
    if (!(first >= ZERO && first <= NINE)) return -1;
    const text = this.#text;
    let at = this.#at + 1;
    let value = first - ZERO;
    let code = text.charCodeAt(at);
    for (; code >= ZERO && code <= NINE; code = text.charCodeAt(++at)) value = 10 * value + code - ZERO;
    const digits = at - this.#at;
    if (digits > SHORT || (first === ZERO && digits > 1)) return -1;
    // The number has a fraction or an exponent.
    if (code === 0x2e || code === 0x45 || code === 0x65) return -1;
    this.#at = at;
    return value;
  }

  #string() {
    const text = this.#text;
    const start = this.#at + 1;
    let end = start;
    let code = text.charCodeAt(end);
    while (code !== QUOTE && code !== BACKSLASH && code >= 0x20) code = text.charCodeAt(++end);
    if (code !== QUOTE) return this.#escapedString();
    this.#at = end + 1;
    return text.slice(start, end);
  }

  #escapedString() {
    const text = this.#text;
    const start = this.#at;
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

  /** Skips the comma before the next item or the closing bracket. Returns true if there is another item. */
  #hasMore(count: number, close: number) {
    const code = this.#skipSpace();
    if (code === close || (count > 0 && code === COMMA)) this.#at++;
    else if (count > 0) throw this.#error(`expected ',' or '${String.fromCharCode(close)}'`);
    if (code !== close && count === this.#maxItems) throw this.#error(`more than ${this.#maxItems} items`);
    return code !== close;
  }

  #list(depth: number) {
    if (!this.#hasMore(0, CLOSE_LIST)) return [];
    const first = this.#value(depth);
    if (!this.#hasMore(1, CLOSE_LIST)) return [first];
    // The list begins with two items, because a push to an empty list would allocate memory for 17.
    const items = [first, this.#value(depth)];
    while (this.#hasMore(items.length, CLOSE_LIST)) items.push(this.#value(depth));
    return items;
  }

  #object(depth: number) {
    const members: Map<string, unknown> = new Map();
    for (let count = 0; this.#hasMore(count, CLOSE_OBJECT); count++) {
      if (this.#skipSpace() !== QUOTE) throw this.#error('expected a name');
      const start = this.#at;
      const name = this.#string();
      if (this.#skipSpace() !== COLON) throw this.#error("expected ':'");
      this.#at++;
      members.set(name, this.#value(depth));
      if (members.size > count) continue;
      this.#at = start;
      throw this.#error('a duplicate name');
    }
    if (this.#maps) return members;
    const object: Record<string, unknown> = Object.create(null);
    members.forEach((value, name) => {
      object[name] = value;
    });
    return object;
  }
}

/** Returns true if an odd number of backslashes precedes the character. */
function isEscaped(text: string, at: number) {
  let start = at;
  while (text[start - 1] === '\\') start--;
  return (at - start) % 2 === 1;
}
