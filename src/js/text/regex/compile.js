// Makes a program of the tree of a regular expression: a table of instructions, which match.js runs. An instruction
// does not depend on how it was reached, so what follows from it at a place of the text can be remembered. For that,
// counted repetitions are written out, and a repetition whose inside can match nothing has two copies of it, for
// iterations that have and have not matched any character.

import { Characters } from './classes.js';

/** @import { CharacterSet } from './classes.js' */
/** @import { Look, Node, Repeat } from './parse.js' */

/** The time per character of a text grows with the cost of the instructions, by about a millisecond per 100,000. */
export const MOST_COST = 1000;
/** Others cost 1. */
const COST_OF_MEMORY = 4;
const COST_OF_WAY = 2;
const MOST_TIMES = 1000;
/** Sets that every new character of a text is looked up in. */
const MOST_SETS = 64;
const MOST_LOOKBEHIND = 255;

export const ACCEPT = 0;
/** Nothing matches. */
export const FAIL = 1;
/** One character, forwards and backwards: a certain one, or one of a set. */
export const LITERAL = 2;
export const LITERAL_BACK = 3;
export const SET = 4;
export const SET_BACK = 5;
/** The next or the last character is (not) of a set; nothing is taken. */
export const NEXT = 6;
export const LAST = 7;
/** A body matches or does not, ahead or behind. */
export const LOOK = 8;
/** A body matches once and for all. `next` where it took characters, `other` where it took none. */
export const ATOMIC = 9;
/** One of several ways, in order. */
export const SPLIT = 10;
/** As many characters of a set as there are, or fewer. */
export const STAR = 11;
/** Several ways lead to what follows. */
export const JOIN = 12;
/** From here on, instructions have a memory. */
const REMEMBERS = SPLIT;

/**
 * @typedef {object} Program
 * @property {Uint8Array} ops
 * @property {Int32Array} args of a literal its number, of a set its number, of a look or an atomic group the entry of
 *   its body, of a split its number
 * @property {Int32Array} nexts
 * @property {Int32Array} others of an atomic group; of a look, the last or the next: 1 where it is negated
 * @property {Int32Array} memos the number of the memory of each instruction, −1 for none
 * @property {Uint8Array} inBody whether the instruction belongs to the body of a look or of an atomic group
 * @property {number[][]} splits the ways of each
 * @property {boolean[]} forwards of each split
 * @property {number[]} literals
 * @property {CharacterSet[]} sets
 * @property {[main: number, body: number]} memoCounts
 * @property {number} entry
 * @property {number} lookbehind how far behind a match a look may reach
 * @property {number} cost
 */

/** @type {WeakMap<Node, boolean>} */
const nullable = new WeakMap();

/** Whether it can match no character at all. @param {Node} node @returns {boolean} */
function isNullable(node) {
  let known = nullable.get(node);
  if (known === undefined) nullable.set(node, (known = findNullable(node)));
  return known;
}

/** @param {Node} node @returns {boolean} */
function findNullable(node) {
  if (node.kind === 'literal' || node.kind === 'set') return false;
  if (node.kind === 'sequence') return node.parts.every(isNullable);
  if (node.kind === 'alternatives') return node.parts.some(isNullable);
  if (node.kind === 'repeat') return node.least === 0 || isNullable(node.one);
  return node.kind === 'look' || isNullable(node.one);
}

/** Whether it needs no instruction. @param {Node} node @returns {boolean} */
function isEmpty(node) {
  if (node.kind === 'sequence') return node.parts.every(isEmpty);
  return node.kind === 'repeat' && (node.most === 0 || isEmpty(node.one));
}

/** How many characters it can match at most. @param {Node} node @returns {number} */
function widthOf(node) {
  if (node.kind === 'literal' || node.kind === 'set') return 1;
  if (node.kind === 'sequence') return node.parts.reduce((sum, part) => sum + widthOf(part), 0);
  if (node.kind === 'alternatives') return node.parts.reduce((most, part) => Math.max(most, widthOf(part)), 0);
  if (node.kind === 'repeat') return widthOf(node.one) === 0 ? 0 : widthOf(node.one) * node.most;
  return node.kind === 'look' ? 0 : widthOf(node.one);
}

/**
 * Where a node goes on: with characters taken since the iteration around it began, and without.
 * @typedef {{ taken: number, none: number, back: boolean }} After
 */

/**
 * @param {Node} tree
 * @param {(reason: string) => Error} fail
 * @returns {Program}
 */
export function compile(tree, fail) {
  return new Compiler(fail).compile(tree);
}

class Compiler {
  #fail;
  /** @type {number[]} */
  #ops = [];
  /** @type {number[]} */
  #args = [];
  /** @type {number[]} */
  #nexts = [];
  /** @type {number[]} */
  #others = [];
  /** @type {number[]} */
  #memos = [];
  /** @type {boolean[]} */
  #inBody = [];
  /** @type {number[][]} */
  #splits = [];
  /** @type {boolean[]} */
  #forwards = [];
  /** @type {Map<number, number>} */
  #literals = new Map();
  /** @type {Map<string, { set: CharacterSet, index: number }>} */
  #sets = new Map();
  /** @type {[main: number, body: number]} */
  #memoCounts = [0, 0];
  #bodies = 0;
  #behind = 0;
  #lookbehind = 0;
  #cost = 0;

  /** @param {(reason: string) => Error} fail */
  constructor(fail) {
    this.#fail = fail;
  }

  /** @param {Node} tree @returns {Program} */
  compile(tree) {
    const accept = this.#emit(ACCEPT);
    this.#emit(FAIL);
    const entry = this.#compile(tree, { taken: accept, none: accept, back: false });
    return {
      ops: Uint8Array.from(this.#ops),
      args: Int32Array.from(this.#args),
      nexts: Int32Array.from(this.#nexts),
      others: Int32Array.from(this.#others),
      memos: Int32Array.from(this.#memos),
      inBody: Uint8Array.from(this.#inBody, Number),
      splits: this.#splits,
      forwards: this.#forwards,
      literals: [...this.#literals.keys()],
      sets: Array.from(this.#sets.values(), ({ set }) => set),
      memoCounts: this.#memoCounts,
      entry,
      lookbehind: this.#lookbehind,
      cost: this.#cost,
    };
  }

  /** @param {number} op @param {number} [arg] @param {number} [next] @param {number} [other] */
  #emit(op, arg = 0, next = 0, other = 0) {
    this.#cost += op >= REMEMBERS ? COST_OF_MEMORY : 1;
    if (this.#cost > MOST_COST) throw this.#fail('it is too large');
    const inBody = this.#bodies > 0;
    this.#memos.push(op >= REMEMBERS ? this.#memoCounts[Number(inBody)]++ : -1);
    this.#inBody.push(inBody);
    this.#args.push(arg);
    this.#nexts.push(next);
    this.#others.push(other);
    return this.#ops.push(op) - 1;
  }

  /** @param {number[]} ways in order @param {boolean} back */
  #split(ways, back) {
    this.#forwards.push(!back);
    this.#cost += COST_OF_WAY * ways.length;
    return this.#emit(SPLIT, this.#splits.push(ways) - 1);
  }

  /** The number of a set. @param {CharacterSet} set */
  #setOf(set) {
    const known = this.#sets.get(set.key);
    if (known) return known.index;
    const index = this.#sets.size;
    if (index === MOST_SETS) throw this.#fail(`more than ${MOST_SETS} different sets of characters`);
    this.#sets.set(set.key, { set, index });
    return index;
  }

  /** The number of a character. @param {number} code */
  #literalOf(code) {
    const index = this.#literals.get(code) ?? this.#literals.size;
    this.#literals.set(code, index);
    return index;
  }

  /**
   * Where several ways can go on: with a memory, unless one follows soon.
   * @param {number} pc
   */
  #join(pc) {
    let at = pc;
    for (let plain = 0; plain < 2 && this.#ops[at] >= LITERAL && this.#ops[at] <= LAST; plain++) at = this.#nexts[at];
    const op = this.#ops[at];
    return op >= REMEMBERS || op === ACCEPT || op === FAIL ? pc : this.#emit(JOIN, 0, pc);
  }

  /** @param {After} after @returns {After} */
  #joined({ taken, none, back }) {
    const first = this.#join(taken);
    return { taken: first, none: none === taken ? first : this.#join(none), back };
  }

  /** @param {Node} node @param {After} after @returns {number} the instruction that it begins with */
  #compile(node, after) {
    if (node.kind === 'literal')
      return this.#emit(after.back ? LITERAL_BACK : LITERAL, this.#literalOf(node.code), after.taken);
    if (node.kind === 'set') return this.#emit(after.back ? SET_BACK : SET, this.#setOf(node.set), after.taken);
    if (node.kind === 'sequence') return this.#sequence(node.parts, after);
    if (node.kind === 'alternatives') return this.#alternatives(node.parts, after);
    if (node.kind === 'repeat') return this.#repeat(node, after);
    if (node.kind === 'look') return this.#look(node, after);
    if (after.back) throw this.#fail('an atomic group or a possessive repetition within a lookbehind');
    const body = this.#body(node.one, false);
    return this.#emit(ATOMIC, body, after.taken, after.none);
  }

  /** @param {readonly Node[]} parts @param {After} after */
  #sequence(parts, after) {
    const { back } = after;
    let { taken, none } = after;
    // The last of them first, as each needs to know where it goes on.
    const order = back ? parts : [...parts].reverse();
    order.forEach((part, i) => {
      const both = taken === none || !isNullable(part);
      const entry = this.#compile(part, { taken, none: both ? taken : none, back });
      // The first of all is entered with nothing taken.
      const isFirst = i === parts.length - 1;
      taken = both || isFirst ? entry : this.#compile(part, { taken, none: taken, back });
      none = entry;
    });
    return none;
  }

  /** @param {readonly Node[]} parts @param {After} after */
  #alternatives(parts, after) {
    const joined = this.#joined(after);
    return this.#split(
      parts.map((part) => this.#compile(part, joined)),
      after.back,
    );
  }

  /** @param {Repeat} repeat @param {After} after */
  #repeat(repeat, after) {
    const { one, least, most } = repeat;
    if (isEmpty(repeat)) return after.none;
    if (least > MOST_TIMES || (most > MOST_TIMES && most !== Infinity))
      throw this.#fail(`a repetition of more than ${MOST_TIMES} times`);
    if (least > 0) {
      const rest = { ...repeat, least: 0, most: most - least };
      return this.#sequence([...new Array(least).fill(one), rest], after);
    }
    return most === Infinity ? this.#unlimited(repeat, after) : this.#limited(repeat, after);
  }

  /** Any number of times. @param {Repeat} repeat @param {After} after */
  #unlimited({ one, lazy }, { taken, none, back }) {
    const set = one.kind === 'set' ? one.set : one.kind === 'literal' ? new Characters([one.code]) : null;
    if (set && !lazy) {
      const index = this.#setOf(set);
      const star = this.#emit(STAR, index, taken);
      return taken === none ? star : this.#split([this.#emit(SET, index, star), none], back);
    }
    /** @type {number[]} */
    const ways = [];
    const again = this.#split(ways, back);
    /** What an iteration that takes nothing goes on with is what follows. @param {number} end */
    const waysTo = (end) => {
      const inside = this.#compile(one, { taken: again, none: isNullable(one) ? end : again, back });
      return lazy ? [end, inside] : [inside, end];
    };
    ways.push(...waysTo(taken));
    return taken === none ? again : this.#split(waysTo(none), back);
  }

  /** At most so many times. @param {Repeat} repeat @param {After} after */
  #limited({ one, most, lazy }, after) {
    let rest = this.#joined(after);
    const { taken: end, none: start, back } = rest;
    for (let i = 0; i < most; i++) {
      const ways = (/** @type {number} */ stop, /** @type {After} */ next) => {
        const inside = this.#compile(one, next);
        return this.#split(lazy ? [stop, inside] : [inside, stop], back);
      };
      const { taken, none } = rest;
      const then = ways(end, { taken, none: taken, back });
      rest = { taken: then, none: start === end ? then : ways(start, { taken, none, back }), back };
    }
    return rest.none;
  }

  /** @param {Look} look @param {After} after */
  #look({ one, ahead, negated }, { none }) {
    if (one.kind === 'set' || one.kind === 'literal') {
      const set = this.#setOf(one.kind === 'set' ? one.set : new Characters([one.code]));
      if (!ahead) this.#lookbehind = Math.max(this.#lookbehind, this.#behind + 1);
      return this.#emit(ahead ? NEXT : LAST, set, none, Number(negated));
    }
    const width = ahead ? 0 : widthOf(one);
    if (width > MOST_LOOKBEHIND) throw this.#fail(`a lookbehind of more than ${MOST_LOOKBEHIND} characters`);
    this.#behind += width;
    this.#lookbehind = Math.max(this.#lookbehind, this.#behind);
    const body = this.#body(one, !ahead);
    this.#behind -= width;
    return this.#emit(LOOK, body, none, Number(negated));
  }

  /** What is matched by itself. @param {Node} one @param {boolean} back */
  #body(one, back) {
    this.#bodies++;
    const accept = this.#emit(ACCEPT);
    const entry = this.#compile(one, { taken: accept, none: accept, back });
    this.#bodies--;
    return entry;
  }
}
