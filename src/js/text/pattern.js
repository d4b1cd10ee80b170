// Regular expressions of tokenizer files are written for Oniguruma. Here they are read and written again as those of
// JavaScript with the flag v, which knows nested classes too. What has no counterpart is refused by name.

/** @import { Fields } from './fields.js' */

const MOST_LENGTH = 20_000;
const MOST_DEPTH = 50;

/** Of every character. */
const WORD = '\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}';
/** Of a character that a pattern names alone, outside of a class: some numbers are taken for letters there. */
const ALONE = `${WORD}\\xb2\\xb3\\xb9\\xbc-\\xbe`;
/** Inside a class. @type {Record<string, string>} */
const CLASSES = {
  ...{ d: '\\p{Nd}', w: WORD, s: '\\p{White_Space}', h: '0-9A-Fa-f' },
  ...{ D: '[^\\p{Nd}]', W: `[^${WORD}]`, S: '[^\\p{White_Space}]', H: '[^0-9A-Fa-f]' },
};
/** @type {Record<string, string>} */
const CHARACTERS = { n: '\n', r: '\r', t: '\t', f: '\f', v: '\v', a: '\x07', e: '\x1b' };
/** Outside of a class. @type {Record<string, string>} */
const OUTSIDE = {
  ...{ A: '(?<![^])', z: '(?![^])', Z: '(?=\\n?(?![^]))', R: '(?:\\r\\n|[\\n\\v\\f\\r\\x85\\u2028\\u2029])' },
  ...{ w: `[${ALONE}]`, W: `[^${ALONE}]` },
  b: `(?:(?<=[${ALONE}])(?![${ALONE}])|(?<![${ALONE}])(?=[${ALONE}]))`,
  B: `(?:(?<=[${ALONE}])(?=[${ALONE}])|(?<![${ALONE}])(?![${ALONE}]))`,
};
/** Names of POSIX, as in [[:alpha:]] and in \p{Alpha}. @type {Record<string, string>} */
const POSIX = {
  ...{ alpha: '\\p{Alphabetic}', alnum: '\\p{Alphabetic}\\p{Nd}', digit: '\\p{Nd}', word: WORD },
  ...{ lower: '\\p{Lowercase}', upper: '\\p{Uppercase}', space: '\\p{White_Space}', blank: '\\p{Zs}\\t' },
  ...{ punct: '\\p{P}\\p{S}', cntrl: '\\p{Cc}', xdigit: '0-9A-Fa-f', ascii: '\\x00-\\x7f' },
};
/** @param {number} code */
const literal = (code) =>
  code >= 0x80 || /[0-9A-Za-z]/.test(String.fromCharCode(code))
    ? String.fromCodePoint(code)
    : `\\x${code.toString(16).padStart(2, '0')}`;

const CASED = /\p{Changes_When_Casemapped}/u;
/** Of each character that differs from others in case alone, all of these and itself. @type {Map<string, string[]>} */
const alike = new Map();

/** Made once, when it is needed. */
function getAlike() {
  if (alike.size > 0) return alike;
  /** The other, where it is the same but for its case. @param {string} sign @param {string} other */
  const same = (sign, other) => (/^(.)\1$/isu.test(sign + other) ? other : sign);
  for (let code = 0; code < 0x20000; code++) {
    const sign = String.fromCodePoint(code);
    if (!CASED.test(sign)) continue;
    // There is more than one small letter to some capitals, and more than one capital to some small letters.
    const upper = same(sign, sign.toUpperCase());
    const one = same(upper, upper.toLowerCase());
    const group = alike.get(one) ?? [];
    group.push(sign);
    for (const each of [one, sign]) alike.set(each, group);
  }
  return alike;
}

/** With all that differs from it in case alone. @param {string} inside what stands inside a class */
function anyCaseOf(inside) {
  const all = getAlike();
  const found = new Set(
    Array.from(all.keys())
      .join('')
      .match(new RegExp(`[${inside}]`, 'gv')),
  );
  const others = Array.from(all).filter(([sign, group]) => !found.has(sign) && group.some((other) => found.has(other)));
  return inside + others.map(([sign]) => sign).join('');
}

/** @param {string} name @returns {string | null} inside a class */
function propertyOf(name) {
  for (const property of [`\\p{${name}}`, `\\p{Script=${name}}`, `\\p{${name.toLowerCase()}}`]) {
    try {
      new RegExp(property, 'v');
      return property;
    } catch {
      // Not of this kind.
    }
  }
  return Object.hasOwn(POSIX, name.toLowerCase()) ? POSIX[name.toLowerCase()] : null;
}

/**
 * @param {string} source
 * @param {(reason: string) => Error} fail
 * @returns {string} the same for the flag v
 */
export function translate(source, fail) {
  let at = 0;
  let atomics = 0;
  let depth = 0;
  let anyCase = false;

  const stop = (/** @type {string} */ reason) => fail(`${reason} at character ${at}`);
  const unknown = () => stop(`'${source.slice(at, at + 4)}' is not supported`);

  /** Past a text, if it is next. @param {string} text */
  function take(text) {
    if (!source.startsWith(text, at)) return false;
    at += text.length;
    return true;
  }
  /** Past a match of a sticky pattern. @param {RegExp} pattern */
  function match(pattern) {
    pattern.lastIndex = at;
    const found = pattern.exec(source);
    if (found) at += found[0].length;
    return found;
  }
  function nested(/** @type {() => string} */ read) {
    if (++depth > MOST_DEPTH) throw stop(`groups nested deeper than ${MOST_DEPTH}`);
    const result = read();
    depth--;
    return result;
  }

  function alternatives() {
    const parts = [sequence()];
    while (take('|')) parts.push(sequence());
    return parts.join('|');
  }

  function sequence() {
    const outside = anyCase;
    let result = '';
    while (at < source.length && source[at] !== '|' && source[at] !== ')') {
      // Holds to the end of the group, over its alternatives too.
      if (take('(?i)')) {
        anyCase = true;
        result += `(?:${nested(alternatives)})`;
      } else result += quantified(atom());
    }
    anyCase = outside;
    return result;
  }

  function quantified(/** @type {string} */ one) {
    let result = one;
    for (;;) {
      const found = match(/[*+?]|\{(?:\d+(?:,\d*)?|,\d+)\}/y);
      if (!found) return result;
      const times = found[0].replace('{,', '{0,');
      // After an exact number it is no sign of the fewest: that many, or none.
      if (/^\{\d+\}$/.test(times) && take('?')) result = `(?:(?:${result}${times})?)`;
      else if (take('?')) result = `(?:${result}${times}?)`;
      // What an interval has matched may be given back; what the others have may not.
      else if (times[0] !== '{' && take('+')) result = atomic(`${result}${times}`);
      else result = `(?:${result}${times})`;
    }
  }

  /** What has matched is kept, whatever follows. @param {string} inside */
  const atomic = (inside) => `(?:(?=(?<a${++atomics}>${inside}))\\k<a${atomics}>)`;

  function atom() {
    if (source[at] === '(') return group();
    if (take('[')) return nested(() => characterClass(anyCase));
    if (source[at] === '\\') return escaped();
    if (take('.')) return '[^\\n]';
    if (take('^')) return '(?:(?<![^])|(?<=\\n)(?=[^]))';
    if (take('$')) return '(?![^\\n])';
    if (/[*+?]/.test(source[at])) throw stop('nothing to repeat');
    return character(next());
  }

  function next() {
    const code = Number(source.codePointAt(at));
    at += code > 0xffff ? 2 : 1;
    return code;
  }

  /** @param {number} code */
  function character(code) {
    const group = anyCase ? getAlike().get(String.fromCodePoint(code)) : null;
    return group && group.length > 1 ? `[${group.join('')}]` : literal(code);
  }

  function group() {
    return nested(() => {
      const outside = anyCase;
      const inside = () => {
        const result = alternatives();
        if (!take(')')) throw stop("expected ')'");
        anyCase = outside;
        return result;
      };
      if (match(/\(\?#[^)]*\)/y)) return '';
      if (take('(?>')) return atomic(inside());
      const flag = match(/\(\?(-?)i:/y);
      if (flag) anyCase = flag[1] === '';
      if (flag) return `(?:${inside()})`;
      const look = match(/\(\?(<?[=!])/y);
      // In a group of its own, so that it can be repeated.
      if (look) return `(?:(?${look[1]}${inside()}))`;
      // A name or a number is of no use: nothing refers to it.
      if (match(/\(\?:|\(\?<[A-Za-z_]\w*>|\((?!\?)/y)) return `(?:${inside()})`;
      throw unknown();
    });
  }

  function escaped() {
    const sign = source[at + 1];
    if (sign !== undefined && Object.hasOwn(OUTSIDE, sign)) {
      at += 2;
      return OUTSIDE[sign];
    }
    const read = escapedCharacter();
    return typeof read === 'number' ? character(read) : `[${read}]`;
  }

  /** A code point, or what stands inside a class. @returns {number | string} */
  function escapedCharacter() {
    const property = match(/\\(p)\{(\^?)([\w ]+)\}|\\(P)\{()([\w ]+)\}/y);
    if (property) {
      const name = property[3] ?? property[6];
      const inside = propertyOf(name);
      if (!inside) throw stop(`the property '${name}' is not supported`);
      return property[4] || property[2] ? `[^${inside}]` : inside;
    }
    const code = match(/\\x([0-9A-Fa-f]{1,2})|\\x\{([0-9A-Fa-f]{1,6})\}|\\u([0-9A-Fa-f]{4})/y);
    if (code) {
      const point = Number.parseInt(code[1] ?? code[2] ?? code[3], 16);
      if (point > 0x10ffff) throw stop('a code point beyond U+10FFFF');
      return point;
    }
    const sign = source[at + 1];
    if (sign === undefined) throw stop('a backslash at the end');
    if (Object.hasOwn(CLASSES, sign)) {
      at += 2;
      return CLASSES[sign];
    }
    if (Object.hasOwn(CHARACTERS, sign)) {
      at += 2;
      return CHARACTERS[sign].charCodeAt(0);
    }
    if (/[0-9A-Za-z]/.test(sign)) throw unknown();
    at++;
    return next();
  }

  /** After its opening bracket. @param {boolean} [inAnyCase] @returns {string} */
  function characterClass(inAnyCase = false) {
    const negated = take('^');
    /** Between the signs &&, of which all must hold. */
    const operands = [''];
    const add = (/** @type {string} */ part) => {
      operands[operands.length - 1] += part;
    };
    for (let first = true; ; first = false) {
      if (at >= source.length) throw stop("expected ']'");
      if (take(']')) {
        if (!first) break;
        add(literal(0x5d));
        continue;
      }
      if (take('&&')) {
        operands.push('');
        continue;
      }
      const posix = match(/\[:(\^?)(\w+):\]/y);
      if (posix) {
        if (!Object.hasOwn(POSIX, posix[2])) throw stop(`the class '${posix[2]}' is not supported`);
        add(posix[1] ? `[^${POSIX[posix[2]]}]` : POSIX[posix[2]]);
      } else if (take('[')) add(nested(() => characterClass()));
      else add(member());
    }
    const all = operands.map((operand) => `[${operand}]`).join('&&');
    const inside = operands.length > 1 ? `[${all}]` : operands[0];
    return `[${negated ? '^' : ''}${inAnyCase ? anyCaseOf(inside) : inside}]`;
  }

  /** A character of a class, or a range of them. */
  function member() {
    const from = source[at] === '\\' ? escapedCharacter() : next();
    if (typeof from === 'string') return from;
    if (source[at] !== '-' || source[at + 1] === ']' || source[at + 1] === undefined) return literal(from);
    at++;
    const to = source[at] === '\\' ? escapedCharacter() : source[at] === '[' ? '[' : next();
    if (typeof to === 'string') throw stop('a range without an end');
    if (to < from) throw stop('an empty range');
    return `${literal(from)}-${literal(to)}`;
  }

  const result = alternatives();
  if (at < source.length) throw stop("a ')' too many");
  return result;
}

/**
 * The matches of a pattern, but no empty ones right after another match, nor between the halves of a character, where
 * engines of JavaScript find some.
 * @param {string} text
 * @param {RegExp} pattern with the flag g
 */
export function* matchesOf(text, pattern) {
  let last = -1;
  for (const found of text.matchAll(pattern)) {
    const { 0: match, index } = found;
    if (match === '' && (index === last || Number(text.codePointAt(index - 1)) > 0xffff)) continue;
    last = index + match.length;
    yield found;
  }
}

/**
 * A pattern of the file: { String } or { Regex }.
 * @param {Fields} fields
 * @param {string} name
 * @returns {RegExp | null} with the flags g and v; null for an empty text
 */
export function readPattern(fields, name) {
  const pattern = fields.object(name);
  const kind = pattern.get('String') === null ? 'Regex' : 'String';
  const source = pattern.string(kind);
  if (source.length > MOST_LENGTH) throw pattern.error(kind, `at most ${MOST_LENGTH} characters`);
  if (kind === 'String')
    return source
      ? new RegExp(Array.from(source, (sign) => literal(Number(sign.codePointAt(0)))).join(''), 'gv')
      : null;
  const translated = translate(source, (reason) =>
    pattern.error(kind, `a regular expression that is supported: ${reason}`),
  );
  try {
    return new RegExp(translated, 'gv');
  } catch (error) {
    throw pattern.error(kind, `a regular expression: ${/** @type {Error} */ (error).message}`);
  }
}
