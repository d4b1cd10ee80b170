// JSON from files of others. Unlike JSON.parse: bounded in depth and in the items of one list or object, a name given
// twice is an error, and names like __proto__ are names.

/** A string that says what it means. */
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
 * @param {{ mostDepth?: number, mostItems?: number }} [limits]
 * @returns {unknown} objects have no prototype
 */
export function parseJson(text, fail, { mostDepth = 16, mostItems = 2 ** 20 } = {}) {
  let at = 0;

  /** @param {string} reason */
  const stop = (reason) => fail(`${reason} at character ${at}`);

  function skipSpace() {
    for (; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return;
    }
  }

  /** Past a sign, if it is next. @param {string} sign */
  function take(sign) {
    skipSpace();
    if (text[at] !== sign) return false;
    at++;
    return true;
  }

  /** @param {number} depth @returns {unknown} */
  function value(depth) {
    skipSpace();
    if (text[at] === '"') return string();
    if (text[at] === '{' || text[at] === '[') {
      if (depth === mostDepth) throw stop(`nested deeper than ${mostDepth} levels`);
      return text[at] === '{' ? object(depth + 1) : array(depth + 1);
    }
    NUMBER.lastIndex = at;
    if (NUMBER.test(text)) return Number(text.slice(at, (at = NUMBER.lastIndex)));
    for (const [word, meaning] of WORDS) {
      if (!text.startsWith(word, at)) continue;
      at += word.length;
      return meaning;
    }
    throw stop(at < text.length ? 'expected a value' : 'the text ends');
  }

  function string() {
    const start = at;
    PLAIN.lastIndex = start;
    if (PLAIN.test(text)) {
      at = PLAIN.lastIndex;
      return text.slice(start + 1, at - 1);
    }
    let end = start;
    do {
      end = text.indexOf('"', end + 1);
      if (end < 0) throw stop('a string without an end');
    } while (isEscaped(text, end));
    try {
      const parsed = JSON.parse(text.slice(start, end + 1));
      at = end + 1;
      return parsed;
    } catch {
      throw stop('not a string of JSON');
    }
  }

  /** Items between signs, separated by commas. @param {string} close @param {() => void} item */
  function list(close, item) {
    at++;
    if (take(close)) return;
    for (let count = 0; ; count++) {
      if (count === mostItems) throw stop(`more than ${mostItems} items`);
      item();
      if (take(close)) return;
      if (!take(',')) throw stop(`expected ',' or '${close}'`);
    }
  }

  /** @param {number} depth */
  function array(depth) {
    /** @type {unknown[]} */
    const items = [];
    list(']', () => items.push(value(depth)));
    return items;
  }

  /** @param {number} depth */
  function object(depth) {
    /** @type {Record<string, unknown>} */
    const members = Object.create(null);
    list('}', () => {
      skipSpace();
      if (text[at] !== '"') throw stop('expected a name');
      const start = at;
      const name = string();
      if (name in members) {
        at = start;
        throw stop('a name given twice');
      }
      if (!take(':')) throw stop("expected ':'");
      members[name] = value(depth);
    });
    return members;
  }

  const result = value(0);
  skipSpace();
  if (at < text.length) throw stop('more text after the value');
  return result;
}

/** Whether an odd number of backslashes stands before a character. @param {string} text @param {number} at */
function isEscaped(text, at) {
  let start = at;
  while (text[start - 1] === '\\') start--;
  return (at - start) % 2 === 1;
}
