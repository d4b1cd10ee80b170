// Parses regular expressions of tokenizer files, in the syntax of Oniguruma. Errors name what the matcher does not
// support.

import { anyCaseClass, anyCaseNode, joinAnyCase } from './anyCase.ts';
import {
  anyBut,
  CharacterClass,
  type CharacterSet,
  Characters,
  escapeSet,
  posixSet,
  propertySet,
  WORD_ALONE,
} from './classes.ts';

/** folded: the character of the pattern, if case is ignored */
export type Character = ({ kind: 'literal'; code: number } | { kind: 'set'; set: CharacterSet }) & { folded?: number };
export type Sequence = { kind: 'sequence'; parts: Node[] };
export type Alternatives = { kind: 'alternatives'; parts: Node[] };
export type Repeat = { kind: 'repeat'; one: Node; least: number; most: number; lazy: boolean };
/** never backtracks into its inside */
export type Atomic = { kind: 'atomic'; one: Node };
export type Look = { kind: 'look'; one: Node; ahead: boolean; negated: boolean };
export type Node = Character | Sequence | Alternatives | Repeat | Atomic | Look;

const MAX_DEPTH = 50;
/** Maximum characters of an unknown name in an error. */
const MAX_NAME_LENGTH = 40;
/** Properties, escapes and nested classes of a pattern: each is tested with every new character. */
const MAX_SETS = 200;
const CHARACTERS: Record<string, string> = { n: '\n', r: '\r', t: '\t', f: '\f', v: '\v', a: '\x07', e: '\x1b' };
const NEWLINE = 10;

const EMPTY: Node = { kind: 'sequence', parts: [] };
const setNode = (set: CharacterSet): Node => ({ kind: 'set', set });
const alternatives = (...parts: Node[]): Node => ({ kind: 'alternatives', parts });
const sequence = (...parts: Node[]): Node => ({ kind: 'sequence', parts });
const look = (set: CharacterSet, ahead: boolean, negated = false): Node => ({
  kind: 'look',
  one: setNode(set),
  ahead,
  negated,
});
const [AHEAD, BEHIND, NOT] = [true, false, true];

const LINE = new Characters([NEWLINE]);
const TEXT_BEGIN = look(anyBut(), BEHIND, NOT);
const TEXT_END = look(anyBut(), AHEAD, NOT);
const LINE_BEGIN = alternatives(TEXT_BEGIN, sequence(look(LINE, BEHIND), look(anyBut(), AHEAD)));
const LINE_END = look(anyBut(NEWLINE), AHEAD, NOT);
const LAST_LINE_BREAK: Node = { kind: 'look', one: sequence(setNode(LINE), TEXT_END), ahead: true, negated: false };
const LINE_BREAK_BEHIND = alternatives(
  sequence(setNode(new Characters([13])), setNode(LINE)),
  setNode(new Characters([10, 11, 12, 13, 0x85, 0x2028, 0x2029])),
);
const LINE_BREAK: Node = { kind: 'atomic', one: LINE_BREAK_BEHIND };
/** before, after: whether the neighbours must be word characters, or must not */
const between = (before: boolean, after: boolean) =>
  sequence(look(WORD_ALONE, BEHIND, !before), look(WORD_ALONE, AHEAD, !after));
/** Escapes outside a class. */
const ESCAPES: Record<string, Node> = {
  ...{ A: TEXT_BEGIN, z: TEXT_END, Z: alternatives(TEXT_END, LAST_LINE_BREAK), R: LINE_BREAK },
  b: alternatives(between(true, false), between(false, true)),
  B: alternatives(between(true, true), between(false, false)),
};

export const parse = (source: string, fail: (reason: string) => Error): Node => new Parser(source, fail).parse();

class Parser {
  #source: string;
  #fail: (reason: string) => Error;
  #at = 0;
  #depth = 0;
  #sets = 0;
  #anyCase = false;
  /** True within a lookbehind. */
  #behind = false;

  constructor(source: string, fail: (reason: string) => Error) {
    this.#source = source;
    this.#fail = fail;
  }

  parse() {
    const result = this.#alternatives();
    if (this.#at < this.#source.length) throw this.#stop("unmatched ')'");
    return result;
  }

  #stop(reason: string) {
    return this.#fail(`${reason} at character ${this.#at}`);
  }

  #unknown() {
    return this.#stop(`'${this.#source.slice(this.#at, this.#at + 4)}' is not supported`);
  }

  /** Consumes a text, if it is next. */
  #consume(text: string) {
    if (!this.#source.startsWith(text, this.#at)) return false;
    this.#at += text.length;
    return true;
  }

  /** Consumes a match of a sticky pattern. */
  #match(pattern: RegExp) {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#source);
    if (found) this.#at += found[0].length;
    return found;
  }

  #enter() {
    if (++this.#depth > MAX_DEPTH) throw this.#stop(`groups and repetitions nested deeper than ${MAX_DEPTH}`);
  }

  #alternatives(): Node {
    const parts = [this.#sequence()];
    while (this.#consume('|')) parts.push(this.#sequence());
    return parts.length === 1 ? parts[0] : alternatives(...parts);
  }

  #sequence(): Node {
    const outside = this.#anyCase;
    const parts: Node[] = [];
    while (this.#at < this.#source.length && !'|)'.includes(this.#source[this.#at])) {
      // Up to the end of the group, including its remaining alternatives.
      if (this.#consume('(?i)')) {
        this.#anyCase = true;
        this.#enter();
        parts.push(this.#alternatives());
        this.#depth--;
      } else parts.push(this.#quantified(this.#atom()));
    }
    this.#anyCase = outside;
    const joined = this.#behind ? parts : joinAnyCase(parts);
    return joined.length === 1 ? joined[0] : sequence(...joined);
  }

  #quantified(one: Node): Node {
    const depth = this.#depth;
    let result = one;
    for (;;) {
      const found = this.#match(/([*+?])|\{(?=,?\d)(\d*)(?:(,)(\d*))?\}/y);
      if (!found) break;
      this.#enter();
      result = this.#repeated(result, found);
    }
    this.#depth = depth;
    return result;
  }

  /** found: a quantifier */
  #repeated(one: Node, [, char, from, comma, to]: RegExpExecArray): Node {
    const least = char ? Number(char === '+') : Number(from);
    const most = char ? (char === '?' ? 1 : Infinity) : comma ? (to ? Number(to) : Infinity) : least;
    if (most < least) throw this.#stop('a repetition whose minimum is larger than its maximum');
    const repeat = (lazy: boolean) => ({ kind: 'repeat', one, least, most, lazy }) as Node;
    // In Oniguruma, a ? after an exact number does not make it lazy. {n}? means (?:{n})?.
    if (!char && !comma && this.#consume('?'))
      return { kind: 'repeat', one: repeat(false), least: 0, most: 1, lazy: false };
    if (this.#consume('?')) return repeat(true);
    // A + after *, + or ? makes that quantifier possessive. After an interval, it is a second quantifier.
    if (char && this.#consume('+')) return { kind: 'atomic', one: repeat(false) };
    return repeat(false);
  }

  #atom(): Node {
    const char = this.#source[this.#at];
    if (char === '(') return this.#group();
    if (this.#consume('[')) {
      const set = this.#class(this.#anyCase);
      return this.#behind ? setNode(set) : anyCaseClass(set);
    }
    if (char === '\\') return this.#escaped();
    if (this.#consume('.')) return setNode(anyBut(NEWLINE));
    if (this.#consume('^')) return LINE_BEGIN;
    if (this.#consume('$')) return LINE_END;
    if ('*+?'.includes(char)) throw this.#stop('nothing to repeat');
    return this.#character(this.#next());
  }

  #next() {
    const code = Number(this.#source.codePointAt(this.#at));
    this.#at += code > 0xffff ? 2 : 1;
    return code;
  }

  #character(code: number): Node {
    return this.#anyCase ? anyCaseNode(code, this.#behind) : { kind: 'literal', code };
  }

  #group(): Node {
    if (this.#match(/\(\?#[^)]*\)/y)) return EMPTY;
    const [outside, behind] = [this.#anyCase, this.#behind];
    this.#enter();
    const make = this.#opening();
    const inside = this.#alternatives();
    if (!this.#consume(')')) throw this.#stop("expected ')'");
    this.#anyCase = outside;
    this.#behind = behind;
    this.#depth--;
    return make(inside);
  }

  /** Consumes the opening of a group. returns makes the node of the group. */
  #opening(): (inside: Node) => Node {
    if (this.#consume('(?>')) return (one) => ({ kind: 'atomic', one });
    const flag = this.#match(/\(\?(-?)i:/y);
    if (flag) this.#anyCase = flag[1] === '';
    if (flag) return (one) => one;
    const looking = this.#match(/\(\?(<?)([=!])/y);
    if (looking?.[1]) this.#behind = true;
    if (looking) return (one) => ({ kind: 'look', one, ahead: looking[1] === '', negated: looking[2] === '!' });
    // Names and numbers are ignored, because backreferences are not supported.
    const group = this.#match(/\(\?:|\(\?<[A-Za-z_]\w*>|\((?!\?)/y);
    // Only a group without a number is one text with its neighbours.
    if (group) return (one) => (group[0] === '(?:' ? one : sequence(one));
    throw this.#unknown();
  }

  #escaped(): Node {
    const char = this.#source[this.#at + 1];
    if (char !== undefined && Object.hasOwn(ESCAPES, char)) {
      this.#at += 2;
      return char === 'R' && this.#behind ? LINE_BREAK_BEHIND : ESCAPES[char];
    }
    const read = this.#escapedCharacter(true);
    return typeof read === 'number' ? this.#character(read) : setNode(read);
  }

  /** alone: true outside a character class; returns a code point, or a set */
  #escapedCharacter(alone: boolean): number | CharacterSet {
    const property = this.#match(/\\(p)\{(\^?)([\w ]+)\}|\\(P)\{()([\w ]+)\}/y);
    if (property) {
      const name = property[3] ?? property[6];
      const set = propertySet(name, Boolean(property[4] || property[2]));
      if (!set) throw this.#stop(`the property '${name.slice(0, MAX_NAME_LENGTH)}' is not supported`);
      return set;
    }
    const code = this.#match(/\\x([0-9A-Fa-f]{1,2})|\\x\{([0-9A-Fa-f]{1,6})\}|\\u([0-9A-Fa-f]{4})/y);
    if (code) {
      const point = Number.parseInt(code[1] ?? code[2] ?? code[3], 16);
      if (point > 0x10ffff) throw this.#stop('a code point beyond U+10FFFF');
      return point;
    }
    const char = this.#source[this.#at + 1];
    if (char === undefined) throw this.#stop('a backslash at the end');
    const set = escapeSet(char, alone);
    if (!set && /[0-9A-Za-z]/.test(char) && !Object.hasOwn(CHARACTERS, char)) throw this.#unknown();
    this.#at++;
    if (!set && !Object.hasOwn(CHARACTERS, char)) return this.#next();
    this.#at++;
    return set ?? CHARACTERS[char].charCodeAt(0);
  }

  #add(owner: CharacterClass, set: CharacterSet) {
    if (++this.#sets > MAX_SETS) throw this.#stop(`more than ${MAX_SETS} sets within classes`);
    owner.add(set);
  }

  /** Parses a class after its opening bracket. */
  #class(anyCase: boolean): CharacterClass {
    const begin = this.#at;
    this.#enter();
    const set = new CharacterClass(this.#consume('^'), anyCase);
    for (let first = true; first || !this.#consume(']'); first = false) {
      if (this.#at >= this.#source.length) throw this.#stop("expected ']'");
      // Directly after the opening bracket, a closing bracket is a literal.
      if (first && this.#consume(']')) set.addRange(0x5d, 0x5d);
      else if (this.#consume('&&')) set.intersect();
      else this.#member(set);
    }
    this.#depth--;
    set.close(this.#source.slice(begin, this.#at));
    return set;
  }

  /** Parses a set, a character or a range in a class. */
  #member(set: CharacterClass) {
    const posix = this.#match(/\[:(\^?)(\w+):\]/y);
    if (posix) {
      const known = posixSet(posix[2], posix[1] !== '');
      if (!known) throw this.#stop(`the class '${posix[2].slice(0, MAX_NAME_LENGTH)}' is not supported`);
      return this.#add(set, known);
    }
    if (this.#consume('[')) return this.#add(set, this.#class(false));
    const from = this.#source[this.#at] === '\\' ? this.#escapedCharacter(false) : this.#next();
    if (typeof from !== 'number') return this.#add(set, from);
    if (!this.#match(/-(?=[^\]])/sy)) return set.addRange(from, from);
    if (this.#source[this.#at] === '[') throw this.#stop('a range without an end');
    const to = this.#source[this.#at] === '\\' ? this.#escapedCharacter(false) : this.#next();
    if (typeof to !== 'number') throw this.#stop('a range without an end');
    if (to < from) throw this.#stop('an empty range');
    set.addRange(from, to);
  }
}
