// Character sets of tokenizer files, tested one character at a time. A class is never compiled to a RegExp, which takes
// seconds for some.

/** The characters of \w in a character class. */
const WORD = '\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}';
/** \w elsewhere: Oniguruma also counts ², ³, ¹ and ¼ to ¾ as word characters. */
const ALONE = `${WORD}\\xb2\\xb3\\xb9\\xbc-\\xbe`;
/** Sets of the escapes with a lower-case letter. The escape with the upper-case letter is the negated set. */
const ESCAPES: Record<string, string> = { d: '\\p{Nd}', w: WORD, s: '\\p{White_Space}', h: '0-9A-Fa-f' };
/** Sets by POSIX names, for [[:alpha:]] and \p{Alpha}. */
const POSIX: Record<string, string> = {
  ...{ alpha: '\\p{Alphabetic}', alnum: '\\p{Alphabetic}\\p{Nd}', digit: '\\p{Nd}', word: WORD },
  ...{ lower: '\\p{Lowercase}', upper: '\\p{Uppercase}', space: '\\p{White_Space}', blank: '\\p{Zs}\\t' },
  ...{ punct: '\\p{P}', cntrl: '\\p{Cc}', xdigit: '0-9A-Fa-f', ascii: '\\x00-\\x7f' },
};

/** key: equal for equal sets */
export type CharacterSet = { has(code: number): boolean; key: string };

/** A set that is tested by a JavaScript RegExp, whose source is never from a file. */
class BuiltIn implements CharacterSet {
  declare key: string;

  #pattern: RegExp;
  #negated: boolean;

  /** inside: source between the brackets */
  constructor(inside: string, negated: boolean) {
    this.#pattern = new RegExp(`[${inside}]`, 'u');
    this.#negated = negated;
    this.key = `${negated ? '^' : ''}${inside}`;
  }

  has(code: number) {
    return this.#pattern.test(String.fromCodePoint(code)) !== this.#negated;
  }
}

/** The sets by key. Their number is bounded by that of the Unicode properties. */
const builtIns: Map<string, BuiltIn> = new Map();

function builtInSet(inside: string, negated: boolean) {
  const key = `${negated ? '^' : ''}${inside}`;
  let set = builtIns.get(key);
  if (!set) builtIns.set(key, (set = new BuiltIn(inside, negated)));
  return set;
}

/** The set of \d, \W …, null for other letters. alone: outside a character class. */
export function escapeSet(letter: string, alone: boolean) {
  const small = letter.toLowerCase();
  if (!Object.hasOwn(ESCAPES, small)) return null;
  return builtInSet(alone && small === 'w' ? ALONE : ESCAPES[small], letter !== small);
}

/** Returns the set of a POSIX class such as [:alpha:], or null if there is none. */
export const posixSet = (name: string, negated: boolean) =>
  Object.hasOwn(POSIX, name) ? builtInSet(POSIX[name], negated) : null;

/** Returns the set of \p{…}, or null if there is none. */
export function propertySet(name: string, negated: boolean) {
  for (const property of [`\\p{${name}}`, `\\p{Script=${name}}`, `\\p{${name.toLowerCase()}}`]) {
    try {
      return builtInSet(property, negated);
    } catch {
      // There is no property of this form.
    }
  }
  return posixSet(name.toLowerCase(), negated);
}

const CASED = /\p{Changes_When_Casemapped}/u;
/** For each character, the characters that are equal except for case. */
const caseGroups: Map<number, number[]> = new Map();
/** Characters that are equal to several others except for case, such as ß and ss, by these others in lower case. */
const manyGroups: Map<string, number[]> = new Map();

/** Returns the groups, which are made at the first use. */
function getCaseGroups() {
  if (caseGroups.size > 0) return caseGroups;
  /** Returns `other` if the two characters are equal except for case, else `char`. */
  const same = (char: string, other: string) => (/^(.)\1$/isu.test(char + other) ? other : char);
  for (let code = 0; code < 0x20000; code++) {
    const char = String.fromCodePoint(code);
    if (!CASED.test(char)) continue;
    // Some upper-case letters have several lower-case letters, and vice versa.
    const upper = same(char, char.toUpperCase());
    const one = Number(same(upper, upper.toLowerCase()).codePointAt(0));
    const group = caseGroups.get(one) ?? [];
    group.push(code);
    for (const each of [one, code]) caseGroups.set(each, group);
    const many = manyOf(code);
    if (many) manyGroups.set(many, [...(manyGroups.get(many) ?? []), code]);
  }
  return caseGroups;
}

/** Returns the characters to which one character is equal except for case, if they are several. */
export function manyOf(code: number) {
  const lower = String.fromCodePoint(code).toLowerCase().toUpperCase().toLowerCase();
  return lower.length > 1 && [...lower].length > 1 ? lower : undefined;
}

/** Returns the characters that are equal to several others except for case. many: in lower case. */
export function onesFor(many: string) {
  getCaseGroups();
  return manyGroups.get(many) ?? [];
}

/** Returns all texts of several characters that are equal to one except for case. */
export function allMany() {
  getCaseGroups();
  return [...manyGroups.keys()];
}

/** Returns a character and all characters that are equal to it except for case. */
export const anyCaseOf = (code: number): readonly number[] => getCaseGroups().get(code) ?? [code];

/** The union of ranges and other sets. */
class Union {
  #ranges: number[][] = [];
  #sets: Map<string, CharacterSet> = new Map();

  addRange(from: number, to: number) {
    this.#ranges.push([from, to]);
  }

  add(set: CharacterSet) {
    this.#sets.set(set.key, set);
  }

  /** Sorts and merges the ranges, for the binary search of has(). */
  close() {
    const merged: number[][] = [];
    for (const [from, to] of this.#ranges.sort((a, b) => a[0] - b[0])) {
      const last = merged.at(-1);
      if (last && from <= last[1] + 1) last[1] = Math.max(last[1], to);
      else merged.push([from, to]);
    }
    this.#ranges = merged;
  }

  has(code: number) {
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

/** A character class in brackets, which is the intersection of its operands. In the source they are separated by &&. */
export class CharacterClass implements CharacterSet {
  /** The source of the class, after it has been parsed. */
  declare key: string;

  #operands = [new Union()];
  #negated: boolean;
  #anyCase: boolean;

  /** anyCase: true to ignore case, which is applied before the negation */
  constructor(negated: boolean, anyCase: boolean) {
    this.#negated = negated;
    this.#anyCase = anyCase;
    this.key = '';
  }

  addRange(from: number, to: number) {
    (this.#operands.at(-1) as Union).addRange(from, to);
  }

  add(set: CharacterSet) {
    (this.#operands.at(-1) as Union).add(set);
  }

  intersect() {
    this.#operands.push(new Union());
  }

  close(source: string) {
    for (const operand of this.#operands) operand.close();
    this.key = `${this.#anyCase ? '(?i)' : ''}[${source}`;
  }

  /** Returns the texts of several characters that a class without case also matches, such as ss for [ß]. */
  many() {
    if (!this.#anyCase || this.#negated) return [];
    return allMany().filter((many) => onesFor(many).some((code) => this.#inside(code)));
  }

  has(code: number) {
    const inside = this.#anyCase ? anyCaseOf(code).some((other) => this.#inside(other)) : this.#inside(code);
    return inside !== this.#negated;
  }

  #inside(code: number) {
    return this.#operands.every((operand) => operand.has(code));
  }
}

/** A short list of characters. */
export class Characters implements CharacterSet {
  declare key: string;

  #codes: readonly number[];

  constructor(codes: readonly number[]) {
    this.#codes = codes;
    this.key = `=${codes.join()}`;
  }

  has(code: number) {
    return this.#codes.includes(code);
  }
}

/** Returns all characters, or all except one. */
export function anyBut(but?: number): CharacterSet {
  if (but === undefined) return ANY;
  return { key: `^=${but}`, has: (code) => code !== but };
}
const ANY = { key: 'any', has: () => true };

export const WORD_ALONE = builtInSet(ALONE, false);
