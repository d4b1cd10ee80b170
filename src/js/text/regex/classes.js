// Sets of characters, as the regular expressions of tokenizer files name them. Each is asked about one character at a
// time: a class of the file is never compiled for JavaScript's engine, which takes seconds for some.

/** The characters of \w. */
const WORD = '\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}';
/** The characters of \w outside of a class: Oniguruma takes some more numbers for letters there. */
const ALONE = `${WORD}\\xb2\\xb3\\xb9\\xbc-\\xbe`;
/** Escapes of one letter; the capital negates. @type {Record<string, string>} */
const ESCAPES = { d: '\\p{Nd}', w: WORD, s: '\\p{White_Space}', h: '0-9A-Fa-f' };
/** Names of POSIX, as in [[:alpha:]] and in \p{Alpha}. @type {Record<string, string>} */
const POSIX = {
  ...{ alpha: '\\p{Alphabetic}', alnum: '\\p{Alphabetic}\\p{Nd}', digit: '\\p{Nd}', word: WORD },
  ...{ lower: '\\p{Lowercase}', upper: '\\p{Uppercase}', space: '\\p{White_Space}', blank: '\\p{Zs}\\t' },
  ...{ punct: '\\p{P}\\p{S}', cntrl: '\\p{Cc}', xdigit: '0-9A-Fa-f', ascii: '\\x00-\\x7f' },
};

/** @typedef {{ has(code: number): boolean, key: string }} CharacterSet key: equal for equal sets */

/** A set that JavaScript knows by a short text, which is never taken from a file. @implements {CharacterSet} */
class Known {
  #pattern;
  #negated;

  /** @param {string} inside what stands inside a class @param {boolean} negated */
  constructor(inside, negated) {
    this.#pattern = new RegExp(`[${inside}]`, 'u');
    this.#negated = negated;
    this.key = `${negated ? '^' : ''}${inside}`;
  }

  /** @param {number} code */
  has(code) {
    return this.#pattern.test(String.fromCodePoint(code)) !== this.#negated;
  }
}

/** By their keys: as many as Unicode has properties. @type {Map<string, Known>} */
const known = new Map();

/** @param {string} inside @param {boolean} negated */
function knownSet(inside, negated) {
  const key = `${negated ? '^' : ''}${inside}`;
  let set = known.get(key);
  if (!set) known.set(key, (set = new Known(inside, negated)));
  return set;
}

/**
 * The set of an escape such as \d or \W; null where the letter names none.
 * @param {string} letter
 * @param {boolean} alone outside of a class
 */
export function escapeSet(letter, alone) {
  const small = letter.toLowerCase();
  if (!Object.hasOwn(ESCAPES, small)) return null;
  return knownSet(alone && small === 'w' ? ALONE : ESCAPES[small], letter !== small);
}

/** The set of [[:alpha:]] and others; null where there is none. @param {string} name @param {boolean} negated */
export const posixSet = (name, negated) => (Object.hasOwn(POSIX, name) ? knownSet(POSIX[name], negated) : null);

/** The set of \p{…}; null where there is none. @param {string} name @param {boolean} negated */
export function propertySet(name, negated) {
  for (const property of [`\\p{${name}}`, `\\p{Script=${name}}`, `\\p{${name.toLowerCase()}}`]) {
    try {
      return knownSet(property, negated);
    } catch {
      // Not of this kind.
    }
  }
  return posixSet(name.toLowerCase(), negated);
}

const CASED = /\p{Changes_When_Casemapped}/u;
/** Characters that differ in case alone, by each of them. @type {Map<number, number[]>} */
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
    const one = Number(same(upper, upper.toLowerCase()).codePointAt(0));
    const group = alike.get(one) ?? [];
    group.push(code);
    for (const each of [one, code]) alike.set(each, group);
  }
  return alike;
}

/** A character with all that differ from it in case alone. @param {number} code @returns {readonly number[]} */
export const anyCaseOf = (code) => getAlike().get(code) ?? [code];

/** The union of ranges and other sets. */
class Union {
  /** @type {number[][]} */
  #ranges = [];
  /** @type {Map<string, CharacterSet>} */
  #sets = new Map();

  /** @param {number} from @param {number} to */
  addRange(from, to) {
    this.#ranges.push([from, to]);
  }

  /** @param {CharacterSet} set */
  add(set) {
    this.#sets.set(set.key, set);
  }

  /** Sorts the ranges, which then neither touch nor overlap. */
  close() {
    /** @type {number[][]} */
    const merged = [];
    for (const [from, to] of this.#ranges.sort((a, b) => a[0] - b[0])) {
      const last = merged.at(-1);
      if (last && from <= last[1] + 1) last[1] = Math.max(last[1], to);
      else merged.push([from, to]);
    }
    this.#ranges = merged;
  }

  /** @param {number} code */
  has(code) {
    let [low, high] = [0, this.#ranges.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#ranges[middle][1] < code) low = middle + 1;
      else high = middle;
    }
    if (low < this.#ranges.length && this.#ranges[low][0] <= code) return true;
    for (const set of this.#sets.values()) if (set.has(code)) return true;
    return false;
  }
}

/** A class in brackets: what is in all of its operands, which stand between the signs &&. @implements {CharacterSet} */
export class CharacterClass {
  #operands = [new Union()];
  #negated;
  #anyCase;

  /** @param {boolean} negated @param {boolean} anyCase of what is inside, before it is negated */
  constructor(negated, anyCase) {
    this.#negated = negated;
    this.#anyCase = anyCase;
    /** The source of the class, once it has been read. */
    this.key = '';
  }

  /** @param {number} from @param {number} to */
  addRange(from, to) {
    /** @type {Union} */ (this.#operands.at(-1)).addRange(from, to);
  }

  /** @param {CharacterSet} set */
  add(set) {
    /** @type {Union} */ (this.#operands.at(-1)).add(set);
  }

  /** Begins another operand: the set is the intersection of all operands. */
  intersect() {
    this.#operands.push(new Union());
  }

  /** @param {string} source */
  close(source) {
    for (const operand of this.#operands) operand.close();
    this.key = `${this.#anyCase ? '(?i)' : ''}[${source}`;
  }

  /** @param {number} code */
  has(code) {
    const inside = this.#anyCase ? anyCaseOf(code).some((other) => this.#inside(other)) : this.#inside(code);
    return inside !== this.#negated;
  }

  /** @param {number} code */
  #inside(code) {
    return this.#operands.every((operand) => operand.has(code));
  }
}

/** A few characters, in the order that they come. @implements {CharacterSet} */
export class Characters {
  #codes;

  /** @param {readonly number[]} codes */
  constructor(codes) {
    this.#codes = codes;
    this.key = `=${codes.join()}`;
  }

  /** @param {number} code */
  has(code) {
    return this.#codes.includes(code);
  }
}

/** All characters but one. @param {number} [but] @returns {CharacterSet} */
export function anyBut(but) {
  if (but === undefined) return ANY;
  return { key: `^=${but}`, has: (code) => code !== but };
}
const ANY = { key: 'any', has: () => true };

export const WORD_ALONE = knownSet(ALONE, false);
